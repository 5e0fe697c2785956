import type { IdsOf, SeedTable } from "./row.ts";

/** Seed 004: the RPC mode of pi. */
export const PI = {
  seed: "pi",
  files: ["004"],
  sections: [
    {
      heading: "RPC mode",
      area: "framing",
      rows: {
        "pi.overview.headless": "The whole agent can be driven without a terminal, by JSON on stdin and stdout.",
        "pi.overview.library":
          "A Node program can import AgentSession from the package instead of starting a child process.",
      },
    },
    {
      heading: "Starting RPC mode",
      area: "cli",
      rows: {
        "pi.cli.mode-rpc": "`--mode rpc`, followed by other options, starts RPC mode.",
        "pi.cli.provider": "`--provider NAME` chooses the provider of the first model.",
        "pi.cli.provider-names": "anthropic, openai and google are providers that can be chosen by name.",
        "pi.cli.model-pattern": "`--model` takes a model id or a pattern that matches one.",
        "pi.cli.model-with-provider": "`--model provider/id` names provider and model at once.",
        "pi.cli.model-with-thinking": "`--model` may end in `:level`, which sets the thinking level.",
        "pi.cli.no-session": "`--no-session` leaves no session file behind.",
        "pi.cli.session-dir": "`--session-dir PATH` is the folder session files are written to.",
      },
    },
    {
      heading: "Core protocol",
      area: "framing",
      rows: {
        "pi.framing.commands": "A command is one JSON object on one line of stdin.",
        "pi.framing.responses": 'A response is a JSON object with `type: "response"` that tells success or failure.',
        "pi.framing.events": "Events are written to stdout as JSON lines while the agent works.",
        "pi.framing.id-optional": "A command without `id` works, and its response has no `id`.",
        "pi.framing.id-echoed": "The response to a command with an `id` carries the same `id`.",
        "pi.framing.id-echoed-always": {
          text: "No response loses the `id` of its command, not even the one to an unknown command.",
          dialects: ["pi"],
        },
      },
    },
    {
      heading: "Commands > Prompting > prompt",
      area: "prompt",
      rows: {
        "pi.prompt.command": "`prompt` sends its `message` to the agent as a user message.",
        "pi.prompt.returns-immediately": "`prompt` is answered at once, before the run has ended.",
        "pi.prompt.events-follow": "The events of the run stream after the answer to `prompt`.",
        "pi.prompt.response": "The answer is a success response with command `prompt` and the id of the request.",
        "pi.prompt.images": "`prompt` takes `images`, and they become part of the user message.",
        "pi.prompt.busy-needs-behavior": "While a run streams, a `prompt` must say `streamingBehavior` to be queued.",
        "pi.prompt.busy-error":
          "While a run streams, a `prompt` without `streamingBehavior` is answered with an error.",
        "pi.prompt.steer-after-current-tool": {
          text: "A `prompt` with `streamingBehavior: steer` is delivered when the tool that is running has finished.",
          dialects: ["pi", "omp"],
        },
        "pi.prompt.steer-skips-tools": {
          text: "A `prompt` with `streamingBehavior: steer` skips the tool calls of the turn that have not started.",
          dialects: ["pi", "omp"],
        },
        "pi.prompt.follow-up-waits": {
          text: "A `prompt` with `streamingBehavior: followUp` is delivered only when the agent has stopped.",
        },
        "pi.prompt.extension-command": {
          text: "A message that is an extension command (`/name`) is run at once, even while a run streams.",
        },
        "pi.prompt.skill-expanded": {
          text: "`/skill:name` is replaced by the skill before the message is sent.",
        },
        "pi.prompt.template-expanded": {
          text: "`/template` is replaced by the prompt template before the message is sent.",
        },
        "pi.prompt.expanded-before-queue": {
          text: "Skills and templates are expanded before a message is put into a queue.",
        },
      },
    },
    {
      heading: "Commands > Prompting > steer",
      area: "queues",
      rows: {
        "pi.steer.command": "`steer` queues its `message` to interrupt the agent.",
        "pi.steer.after-current-tool": {
          text: "A steering message is delivered when the tool that is running has finished.",
          dialects: ["pi", "omp"],
        },
        "pi.steer.skips-tools": {
          text: "A steering message skips the tool calls of the turn that have not started.",
          dialects: ["pi", "omp"],
        },
        "pi.steer.images": "`steer` takes `images`.",
        "pi.steer.response": "The answer is a success response with command `steer`.",
      },
    },
    {
      heading: "Commands > Prompting > follow_up",
      area: "queues",
      rows: {
        "pi.follow-up.command": "`follow_up` queues its `message`.",
        "pi.follow-up.after-agent": "A follow-up message is handled when the agent has finished.",
        "pi.follow-up.response": "The answer is a success response with command `follow_up`.",
      },
    },
    {
      heading: "Commands > Prompting > abort",
      area: "abort",
      rows: {
        "pi.abort.command": "`abort` ends what the agent is doing.",
        "pi.abort.response": "The answer is a success response with command `abort`.",
      },
    },
    {
      heading: "Commands > Prompting > new_session",
      area: "sessions",
      rows: {
        "pi.new-session.command": "`new_session` begins a new session.",
        "pi.new-session.cancellable": {
          text: "An extension handler of `session_before_switch` can cancel `new_session`.",
        },
        "pi.new-session.parent": "`new_session` takes `parentSession`, and the new session remembers it.",
        "pi.new-session.response": "The data of the answer is `cancelled`, a boolean.",
      },
    },
    {
      heading: "Commands > State > get_state",
      area: "state",
      rows: {
        "pi.state.command": "`get_state` answers with the state of the session.",
        "pi.state.model": "`model` is the whole model object.",
        "pi.state.model-null": "`model` is null when there is no model.",
        "pi.state.thinking-level": "`thinkingLevel` is the thinking level in use.",
        "pi.state.is-streaming": "`isStreaming` is true during a run and false otherwise.",
        "pi.state.is-compacting": "`isCompacting` is a boolean, false while nothing is being compacted.",
        "pi.state.steering-mode": "`steeringMode` is the steering mode in use.",
        "pi.state.follow-up-mode": "`followUpMode` is the follow-up mode in use.",
        "pi.state.session-file": "`sessionFile` is the path of the session file.",
        "pi.state.session-id": "`sessionId` is the id of the session.",
        "pi.state.session-name": {
          text: "`sessionName` is the name given by `set_session_name`.",
        },
        "pi.state.session-name-absent": "`sessionName` is left out while no name has been given.",
        "pi.state.auto-compaction": "`autoCompactionEnabled` tells whether automatic compaction is on.",
        "pi.state.message-count": "`messageCount` is the number of messages of the conversation.",
        "pi.state.pending-count": "`pendingMessageCount` is a number, 0 while nothing is queued.",
        "pi.state.pending-count-queued": {
          text: "`pendingMessageCount` counts the queued messages.",
        },
      },
    },
    {
      heading: "Commands > State > get_messages",
      area: "state",
      rows: {
        "pi.messages.command": "`get_messages` is answered with `messages`, an array.",
        "pi.messages.all": "`messages` holds every message of the conversation.",
      },
    },
    {
      heading: "Commands > Model",
      area: "models",
      rows: {
        "pi.models.set": "`set_model` with `provider` and `modelId` switches to that model.",
        "pi.models.cycle": "`cycle_model` switches to the next available model.",
        "pi.models.cycle-single": "`cycle_model` answers with null data when only one model is available.",
        "pi.models.list": "`get_available_models` lists all configured models.",
      },
    },
    {
      heading: "Commands > Thinking",
      area: "thinking",
      rows: {
        "pi.thinking.set": "`set_thinking_level` sets the thinking level.",
        "pi.thinking.levels": "The levels are off, minimal, low, medium, high and xhigh.",
        "pi.thinking.xhigh": "xhigh takes effect only on models that support it.",
        "pi.thinking.cycle": "`cycle_thinking_level` goes to the next level.",
        "pi.thinking.cycle-unsupported": "`cycle_thinking_level` answers with null data when the model cannot think.",
      },
    },
    {
      heading: "Commands > Queue modes",
      area: "queue-modes",
      rows: {
        "pi.queue-modes.set-steering": "`set_steering_mode` sets how steering messages are delivered.",
        "pi.queue-modes.steering-all": {
          text: "Steering mode `all` delivers all steering messages at the next point of interruption.",
        },
        "pi.queue-modes.steering-one": {
          text: "Steering mode `one-at-a-time` delivers one steering message at each interruption.",
        },
        "pi.queue-modes.steering-default": "The steering mode is `one-at-a-time` unless it is set.",
        "pi.queue-modes.set-follow-up": "`set_follow_up_mode` sets how follow-up messages are delivered.",
        "pi.queue-modes.follow-up-all": {
          text: "Follow-up mode `all` delivers all follow-up messages when the agent has finished.",
        },
        "pi.queue-modes.follow-up-one": {
          text: "Follow-up mode `one-at-a-time` delivers one follow-up message each time the agent has finished.",
        },
        "pi.queue-modes.follow-up-default": "The follow-up mode is `one-at-a-time` unless it is set.",
      },
    },
    {
      heading: "Commands > Compaction > compact",
      area: "compaction",
      rows: {
        "pi.compaction.command": "`compact` shortens the context of the conversation so that it uses fewer tokens.",
        "pi.compaction.instructions": "`compact` takes `customInstructions`, which steer the summary.",
        "pi.compaction.summary": "The data of the answer has `summary`, the text that replaces the older messages.",
        "pi.compaction.first-kept": "The data of the answer has `firstKeptEntryId`, the first entry that was kept.",
        "pi.compaction.tokens-before": "The data of the answer has `tokensBefore`, the size before.",
        "pi.compaction.details": "The data of the answer has `details`, an object.",
      },
    },
    {
      heading: "Commands > Compaction > set_auto_compaction",
      area: "compaction",
      rows: {
        "pi.compaction.set-auto":
          "`set_auto_compaction` takes `enabled`, and get_state tells it; what it does stands in the next two rows.",
        "pi.compaction.automatic": {
          text: "With automatic compaction on, the context is compacted when it is nearly full.",
        },
        "pi.compaction.automatic-off": {
          text: "With automatic compaction off, a nearly full context is left alone.",
        },
      },
    },
    {
      heading: "Commands > Retry",
      area: "retry",
      rows: {
        "pi.retry.set-auto": "`set_auto_retry` turns automatic retry on and off.",
        "pi.retry.overloaded": { text: "An overloaded provider is tried again." },
        "pi.retry.rate-limit": { text: "A rate limit is waited for and the request tried again." },
        "pi.retry.server-error": { text: "A 5xx answer of the provider is tried again." },
        "pi.retry.off": { text: "With automatic retry off, a passing error ends the run." },
        "pi.retry.abort": { text: "`abort_retry` ends the wait before the next attempt." },
        "pi.retry.abort-stops": { text: "After `abort_retry` no further attempt is made." },
      },
    },
    {
      heading: "Commands > Bash > bash",
      area: "bash-command",
      rows: {
        "pi.bash.command": "`bash` runs its `command` in a shell.",
        "pi.bash.in-context": "The output of `bash` is added to the context of the conversation.",
        "pi.bash.output": "The data of the answer has `output`, what the command wrote.",
        "pi.bash.exit-code": "The data of the answer has `exitCode`.",
        "pi.bash.cancelled": "The data of the answer has `cancelled`, a boolean.",
        "pi.bash.truncated": "The data of the answer has `truncated`, a boolean.",
        "pi.bash.immediate": "`bash` runs at once, without waiting for a prompt.",
        "pi.bash.message-stored": "Each `bash` leaves a bashExecution message in the messages of the agent.",
        "pi.bash.no-event": "No event is sent for a bashExecution message.",
        "pi.bash.converted": "bashExecution messages are turned into text for the model when the next prompt is sent.",
        "pi.bash.next-prompt": "The model sees the output with the next prompt, not earlier.",
        "pi.bash.several": "Several `bash` commands before one prompt are all seen by the model.",
      },
    },
    {
      heading: "Commands > Bash > abort_bash",
      area: "bash-command",
      rows: { "pi.bash.abort": "`abort_bash` ends the shell command that is running." },
    },
    {
      heading: "Commands > Session > get_session_stats",
      area: "sessions",
      rows: {
        "pi.stats.command": "`get_session_stats` tells the tokens used and what they cost.",
        "pi.stats.session": "The data has `sessionFile` and `sessionId`.",
        "pi.stats.messages": "The data counts `userMessages`, `assistantMessages` and `totalMessages`.",
        "pi.stats.tools": "The data counts `toolCalls` and `toolResults`.",
        "pi.stats.tokens": "The data has `tokens` with `input`, `output`, `cacheRead`, `cacheWrite` and `total`.",
        "pi.stats.tokens-total": "`tokens.total` is the sum of the four other token counts.",
        "pi.stats.cost": "The data has `cost`, a number.",
      },
    },
    {
      heading: "Commands > Session > export_html",
      area: "html-export",
      rows: {
        "pi.export.command": "`export_html` writes the session to an HTML file.",
        "pi.export.path": "`export_html` writes to `outputPath` when it is given.",
      },
    },
    {
      heading: "Commands > Session > switch_session",
      area: "sessions",
      rows: {
        "pi.switch.command": "`switch_session` loads the session file at `sessionPath`.",
        "pi.switch.cancellable": {
          text: "An extension handler of `session_before_switch` can cancel `switch_session`.",
        },
      },
    },
    {
      heading: "Commands > Session > fork",
      area: "sessions",
      rows: {
        "pi.fork.command": "`fork` starts a new branch at the earlier user message `entryId`.",
        "pi.fork.text": "The data of the answer has `text`, the original text of that message.",
        "pi.fork.cancelled": "The data of the answer has `cancelled`, a boolean.",
        "pi.fork.messages": "`get_fork_messages` lists the user messages that can be forked from.",
      },
    },
    {
      heading: "Commands > Session > get_last_assistant_text",
      area: "state",
      rows: {
        "pi.last-text.command": "`get_last_assistant_text` answers with the text of the last assistant message.",
      },
    },
    {
      heading: "Commands > Session > set_session_name",
      area: "sessions",
      rows: { "pi.session-name.command": "`set_session_name` sets the display name of the session." },
    },
    {
      heading: "Commands > Command query > get_commands",
      area: "templates",
      rows: {
        "pi.commands.command": {
          text: "`get_commands` lists extension commands, prompt templates and skills as `commands`.",
        },
        "pi.commands.invoked":
          "Each command that `get_commands` lists can be run by a `prompt` that begins with `/` and its name.",
        "pi.commands.name": "`name` is what follows the slash; a skill is listed as `skill:name`.",
        "pi.commands.description": "`description` is a text for people.",
        "pi.commands.description-optional": {
          text: "An extension command may be without `description`.",
        },
        "pi.commands.source-extension": {
          text: "`source` of an extension command is `extension`.",
        },
        "pi.commands.source-prompt": "`source` of a prompt template is `prompt`.",
        "pi.commands.source-skill": "`source` of a skill is `skill`.",
        "pi.commands.location": "`location`, when there, is `user`, `project` or `path`.",
        "pi.commands.path": "`path`, when there, is the absolute path of the file the command comes from.",
      },
    },
    {
      heading: "Event stream",
      area: "events",
      rows: {
        "pi.events.during-run": "Events are written as JSON lines while the agent runs.",
        "pi.events.no-id": "None of the events of this list carries an `id`; responses do.",
      },
    },
    {
      heading: "Event stream > Event types",
      area: "events",
      rows: {
        "pi.events.agent-start": "`agent_start` says that the agent begins to work.",
        "pi.events.agent-end": "`agent_end` says that the agent has finished.",
        "pi.events.agent-end-messages": "`agent_end` carries all messages the run has produced.",
        "pi.events.turn-start": "`turn_start` begins each turn.",
        "pi.events.turn-end": "`turn_end` ends each turn.",
        "pi.events.turn-end-content": "`turn_end` carries the assistant message and the tool results of the turn.",
        "pi.events.message-start": "`message_start` begins each message.",
        "pi.events.message-update": "`message_update` carries text, thinking and tool-call increments.",
        "pi.events.message-end": "`message_end` ends each message.",
        "pi.events.tool-start": "`tool_execution_start` says that a tool begins.",
        "pi.events.tool-update": "`tool_execution_update` tells the progress of a tool.",
        "pi.events.tool-end": "`tool_execution_end` says that a tool has finished.",
        "pi.events.compaction-start": {
          text: "`auto_compaction_start` says that automatic compaction begins.",
        },
        "pi.events.compaction-end": {
          text: "`auto_compaction_end` says that automatic compaction has finished.",
        },
        "pi.events.retry-start": {
          text: "`auto_retry_start` says, after a passing error, that a retry begins.",
        },
        "pi.events.retry-end-success": {
          text: "`auto_retry_end` says that a retry has succeeded.",
        },
        "pi.events.retry-end-failure": {
          text: "`auto_retry_end` says that the retries have finally failed.",
        },
        "pi.events.extension-error": {
          text: "`extension_error` says that an extension has thrown.",
        },
      },
    },
    {
      heading: "Event stream > message_update",
      area: "events",
      rows: {
        "pi.update.while-streaming": "`message_update` is sent while an assistant message streams.",
        "pi.update.message": "`message` is the message as far as it has come.",
        "pi.update.event": "`assistantMessageEvent` is one increment, told apart by its `type`.",
        "pi.update.partial": "An increment carries `partial`, the message so far, and `contentIndex`, its block.",
        "pi.update.start": "`start` says that a message begins.",
        "pi.update.text-start": "`text_start` opens a text block.",
        "pi.update.text-delta": "`text_delta` carries a piece of text in `delta`.",
        "pi.update.text-end": "`text_end` closes a text block.",
        "pi.update.thinking-start": "`thinking_start` opens a thinking block.",
        "pi.update.thinking-delta": "`thinking_delta` carries a piece of thinking in `delta`.",
        "pi.update.thinking-end": "`thinking_end` closes a thinking block.",
        "pi.update.toolcall-start": "`toolcall_start` opens a tool call.",
        "pi.update.toolcall-delta": "`toolcall_delta` carries a piece of the arguments in `delta`.",
        "pi.update.toolcall-end": "`toolcall_end` closes a tool call and carries all of it in `toolCall`.",
        "pi.update.done-stop": "`done` with reason `stop` ends a message that is complete.",
        "pi.update.done-length": "`done` with reason `length` ends a message that was cut at its limit.",
        "pi.update.done-tool-use": "`done` with reason `toolUse` ends a message that calls tools.",
        "pi.update.error-aborted": "`error` with reason `aborted` ends a message that was aborted.",
        "pi.update.error-error": "`error` with reason `error` ends a message that failed.",
      },
    },
    {
      heading: "Event stream > Images",
      area: "prompt",
      rows: {
        "pi.images.prompt-optional": "`images` of `prompt` is optional.",
        "pi.images.steer-optional": { text: "`images` of `steer` is optional." },
        "pi.images.follow-up-optional": { text: "`follow_up` takes `images`, and they are optional." },
        "pi.images.format": "An image is `type: image` with base64 `data` and a `mimeType`.",
      },
    },
    {
      heading: "Event stream > tool_execution",
      area: "tools",
      rows: {
        "pi.tools.start-fields": "`tool_execution_start` carries `toolCallId`, `toolName` and `args`.",
        "pi.tools.update-fields":
          "`tool_execution_update` carries `toolCallId`, `toolName`, `args` and `partialResult` with `content`.",
        "pi.tools.update-details":
          "The updates of the bash tool carry `details` with `truncation` and `fullOutputPath`.",
        "pi.tools.correlated": "`toolCallId` is the same in all events of one call.",
        "pi.tools.cumulative": "`partialResult` is all output so far, so that a host can replace what it shows.",
      },
    },
    {
      heading: "Extension UI sub-protocol",
      area: "dialogs",
      rows: {
        "pi.ui.from-context": "What an extension asks through `ctx.ui` becomes a request to the host.",
        "pi.ui.dialogs-block": "select, confirm, input and editor wait until the host has answered.",
        "pi.ui.matched-by-id": "The answer that counts is the `extension_ui_response` with the `id` of the request.",
        "pi.ui.no-answer-expected": "notify, setStatus, setWidget, setTitle and set_editor_text wait for no answer.",
        "pi.ui.request-fields": "Each request has `type: extension_ui_request`, an `id` of its own and a `method`.",
      },
    },
    {
      heading: "Extension UI sub-protocol > Requests",
      area: "dialogs",
      rows: {
        "pi.ui.select": "`select` has `title`, `options` and may have `timeout`.",
        "pi.ui.confirm": "`confirm` has `title`, `message` and may have `timeout`.",
        "pi.ui.input": "`input` has `title` and `placeholder`.",
        "pi.ui.editor": "`editor` has `title` and `prefill`.",
        "pi.ui.notify": "`notify` has `message`.",
        "pi.ui.notify-type": "`notifyType` is info, warning or error.",
        "pi.ui.set-status": "`setStatus` sets the entry `statusKey` of the status line to `statusText`.",
        "pi.ui.set-status-clear": "`setStatus` can clear an entry.",
        "pi.ui.set-widget": "`setWidget` sets the widget `widgetKey` to `widgetLines`.",
        "pi.ui.set-widget-placement": "`widgetPlacement` puts a widget above or below the editor.",
        "pi.ui.set-widget-clear": "`setWidget` can clear a widget.",
        "pi.ui.set-title": {
          text: "`setTitle` sets the title of the terminal to `title`.",
          dialects: ["pi", "omp"],
        },
        "pi.ui.set-editor-text": "`set_editor_text` puts `text` into the input editor.",
      },
    },
    {
      heading: "Extension UI sub-protocol > Responses",
      area: "dialogs",
      rows: {
        "pi.ui.answer-dialogs-only": "Only the four dialog methods are answered, under the `id` of the request.",
        "pi.ui.answer-value": "select, input and editor are answered with `value`.",
        "pi.ui.answer-confirmed": "confirm is answered with `confirmed`.",
        "pi.ui.answer-cancelled": "Any dialog can be answered with `cancelled: true`.",
      },
    },
    {
      heading: "Error responses",
      area: "errors",
      rows: {
        "pi.errors.failure": "A command that fails is answered with `success: false`, its name and a text in `error`.",
        "pi.errors.model-not-found": "An unknown model is `Model not found: provider/model`.",
        "pi.errors.parse": "A line that cannot be parsed is answered with command `parse` and `success: false`.",
        "pi.errors.parse-text": "The text of a parse error begins with `Failed to parse command: `.",
      },
    },
    {
      heading: "Example: basic client (Python)",
      area: "client",
      rows: {
        "pi.example.python": "The Python program prints the streamed text and stops at `agent_end`.",
      },
    },
    {
      heading: "Example: interactive client (Node.js)",
      area: "client",
      rows: {
        "pi.example.node": "The Node program prints the streamed text.",
        "pi.example.node-abort": "The Node program aborts the run on Ctrl-C.",
      },
    },
  ],
} as const satisfies SeedTable;

export type PiId = IdsOf<typeof PI>;
