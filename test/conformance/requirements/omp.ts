import type { IdsOf, SeedTable } from "./row.ts";

/** Seed 002: the RPC protocol reference of omp. */
export const OMP = {
  seed: "omp",
  files: ["002"],
  sections: [
    {
      heading: "RPC Protocol Reference",
      area: "framing",
      rows: {
        "omp.overview.ndjson": { text: "RPC mode is newline-delimited JSON over stdio.", same: "pi.overview.headless" },
        "omp.overview.stdin-commands": { text: "stdin takes commands.", same: "pi.framing.commands" },
        "omp.overview.stdin-ui-responses": "stdin takes answers to extension UI requests.",
        "omp.overview.stdout-responses": { text: "stdout gives command responses.", same: "pi.framing.responses" },
        "omp.overview.stdout-events": { text: "stdout gives session and agent events.", same: "pi.framing.events" },
        "omp.overview.stdout-ui-requests": "stdout gives extension UI requests.",
      },
    },
    {
      heading: "RPC Protocol Reference > Primary implementation",
      area: "layout",
      rows: {
        "omp.layout.rpc-mode": "The mode is implemented in `src/modes/rpc/rpc-mode.ts`.",
        "omp.layout.rpc-types": "The protocol types are found in `src/modes/rpc/rpc-types.ts`.",
        "omp.layout.agent-session": "The session is implemented in `src/session/agent-session.ts`.",
        "omp.layout.agent": { text: "The agent is implemented in `packages/agent/src/agent.ts`." },
        "omp.layout.agent-loop": "The loop is implemented in `packages/agent/src/agent-loop.ts`.",
      },
    },
    {
      heading: "Startup",
      area: "cli",
      rows: {
        "omp.cli.mode-rpc": { same: "pi.cli.mode-rpc" },
        "omp.cli.file-argument": "An `@file` argument is refused in RPC mode.",
        "omp.cli.stdin-jsonl": { text: "The process reads stdin as JSON lines.", same: "pi.framing.commands" },
        "omp.cli.eof-exit": "When stdin closes, the process ends with exit code 0.",
        "omp.cli.one-object-per-line": "Each response and each event is one JSON object on one line.",
      },
    },
    {
      heading: "Transport and Framing",
      area: "framing",
      rows: {
        "omp.framing.newline": "Each frame is one JSON object followed by a line feed.",
        "omp.framing.no-envelope": "A frame is the object itself; nothing is wrapped around it.",
      },
    },
    {
      heading: "Transport and Framing > Outbound frame categories",
      area: "framing",
      rows: {
        "omp.framing.out-response": { text: "A response has `type: response`.", same: "pi.framing.responses" },
        "omp.framing.out-event": "An event is the event object itself, with its name in `type`.",
        "omp.framing.out-ui-request": "A UI request has `type: extension_ui_request`.",
        "omp.framing.out-extension-error": {
          text: "An extension error is a frame of its own with `extensionPath`, `event` and `error`.",
        },
      },
    },
    {
      heading: "Transport and Framing > Inbound frame categories",
      area: "framing",
      rows: {
        "omp.framing.in-command": { text: "A command is told by its `type`.", same: "pi.framing.commands" },
        "omp.framing.in-ui-response": {
          text: "A UI response has `type: extension_ui_response`.",
        },
      },
    },
    {
      heading: "Request/Response Correlation",
      area: "framing",
      rows: {
        "omp.correlation.id-optional": {
          text: "Every command takes an optional `id`, a string.",
          same: "pi.framing.id-optional",
        },
        "omp.correlation.id-echoed": { same: "pi.framing.id-echoed" },
        "omp.correlation.client-relies": "RpcClient finds the request a response belongs to by its `id`.",
        "omp.correlation.unknown-command-no-id": {
          text: "The response to an unknown command has no `id`, even when the request had one.",
          dialects: ["union", "omp", "xcsh"],
        },
        "omp.correlation.parse-no-id": "A line that cannot be parsed is answered with command `parse` and no `id`.",
        "omp.correlation.exception-is-parse": {
          text: "An exception in a handler is answered with command `parse` and no `id`.",
          dialects: ["omp", "xcsh"],
        },
        "omp.correlation.prompt-later-error":
          "A `prompt` that was answered with success and then fails gets a second, failed response with the same `id`.",
        "omp.correlation.abort-and-prompt-later-error": {
          text: "An `abort_and_prompt` that was answered and then fails gets a second, failed response with the same `id`.",
        },
      },
    },
    {
      heading: "Command Schema > Prompting",
      area: "prompt",
      rows: {
        "omp.prompt.command": { same: "pi.prompt.command" },
        "omp.prompt.images": { same: "pi.prompt.images" },
        "omp.prompt.behavior-values": "`streamingBehavior` of `prompt` is `steer` or `followUp` and nothing else.",
        "omp.steer.command": { same: "pi.steer.command" },
        "omp.steer.images": { same: "pi.steer.images" },
        "omp.follow-up.command": { same: "pi.follow-up.command" },
        "omp.follow-up.images": { same: "pi.images.follow-up-optional" },
        "omp.abort.command": { same: "pi.abort.command" },
        "omp.abort-and-prompt.command": {
          text: "`abort_and_prompt` ends the run and sends its `message` as a new prompt.",
        },
        "omp.abort-and-prompt.images": { text: "`abort_and_prompt` takes `images`." },
        "omp.new-session.command": { same: "pi.new-session.command" },
        "omp.new-session.parent": { same: "pi.new-session.parent" },
      },
    },
    {
      heading: "Command Schema > State",
      area: "state",
      rows: { "omp.state.command": { same: "pi.state.command" } },
    },
    {
      heading: "Command Schema > Model",
      area: "models",
      rows: {
        "omp.models.set": { same: "pi.models.set" },
        "omp.models.cycle": { same: "pi.models.cycle" },
        "omp.models.list": { same: "pi.models.list" },
      },
    },
    {
      heading: "Command Schema > Thinking",
      area: "thinking",
      rows: {
        "omp.thinking.set": { same: "pi.thinking.set" },
        "omp.thinking.cycle": { same: "pi.thinking.cycle" },
      },
    },
    {
      heading: "Command Schema > Queue modes",
      area: "queue-modes",
      rows: {
        "omp.queue-modes.set-steering": {
          text: "`set_steering_mode` takes `mode`, `all` or `one-at-a-time`.",
          same: "pi.queue-modes.set-steering",
        },
        "omp.queue-modes.set-follow-up": {
          text: "`set_follow_up_mode` takes `mode`, `all` or `one-at-a-time`.",
          same: "pi.queue-modes.set-follow-up",
        },
        "omp.queue-modes.set-interrupt": "`set_interrupt_mode` takes `mode`, `immediate` or `wait`.",
      },
    },
    {
      heading: "Command Schema > Compaction",
      area: "compaction",
      rows: {
        "omp.compaction.command": { same: "pi.compaction.command" },
        "omp.compaction.instructions": { same: "pi.compaction.instructions" },
        "omp.compaction.set-auto": { same: "pi.compaction.set-auto" },
      },
    },
    {
      heading: "Command Schema > Retry",
      area: "retry",
      rows: {
        "omp.retry.set-auto": { same: "pi.retry.set-auto" },
        "omp.retry.abort": { same: "pi.retry.abort" },
      },
    },
    {
      heading: "Command Schema > Bash",
      area: "bash-command",
      rows: {
        "omp.bash.command": { same: "pi.bash.command" },
        "omp.bash.abort": { same: "pi.bash.abort" },
      },
    },
    {
      heading: "Command Schema > Session",
      area: "sessions",
      rows: {
        "omp.stats.command": { same: "pi.stats.command" },
        "omp.export.command": { same: "pi.export.command" },
        "omp.export.path": { same: "pi.export.path" },
        "omp.switch.command": { same: "pi.switch.command" },
        "omp.branch.command": {
          text: "`branch` starts a new branch at the earlier user message `entryId`.",
        },
        "omp.branch.messages": {
          text: "`get_branch_messages` lists the user messages that can be branched from.",
        },
        "omp.last-text.command": { same: "pi.last-text.command" },
        "omp.session-name.command": { same: "pi.session-name.command" },
      },
    },
    {
      heading: "Command Schema > Messages",
      area: "state",
      rows: { "omp.messages.command": { same: "pi.messages.command" } },
    },
    {
      heading: "Response Schema",
      area: "framing",
      rows: {
        "omp.response.success": "A success has `type`, `command` and `success: true`, and `data` when there is some.",
        "omp.response.failure": "A failure has `type`, `command`, `success: false` and `error`, a string.",
        "omp.response.data-types": "`rpc-types.ts` tells the data of each command.",
      },
    },
    {
      heading: "Response Schema > get_state payload",
      area: "state",
      rows: {
        "omp.state.model": { text: "`model` has `provider` and `id`.", same: "pi.state.model" },
        "omp.state.thinking-level": "`thinkingLevel` is off, minimal, low, medium, high or xhigh.",
        "omp.state.is-streaming": { same: "pi.state.is-streaming" },
        "omp.state.is-compacting": { same: "pi.state.is-compacting" },
        "omp.state.steering-mode": { same: "pi.state.steering-mode" },
        "omp.state.follow-up-mode": { same: "pi.state.follow-up-mode" },
        "omp.state.interrupt-mode": "`interruptMode` is the interrupt mode in use, `immediate` or `wait`.",
        "omp.state.session-file": { same: "pi.state.session-file" },
        "omp.state.session-id": { same: "pi.state.session-id" },
        "omp.state.session-name": { same: "pi.state.session-name" },
        "omp.state.auto-compaction": { same: "pi.state.auto-compaction" },
        "omp.state.message-count": { same: "pi.state.message-count" },
        "omp.state.queued-count": "`queuedMessageCount` is a number, 0 while nothing is queued.",
        "omp.state.queued-count-queued": { text: "`queuedMessageCount` counts the queued messages." },
      },
    },
    {
      heading: "Event Stream Schema",
      area: "events",
      rows: {
        "omp.events.from-subscribe":
          "The events on stdout are those `AgentSession.subscribe` gives, in the same order.",
        "omp.events.agent-start": { same: "pi.events.agent-start" },
        "omp.events.agent-end": { same: "pi.events.agent-end" },
        "omp.events.turn-start": { same: "pi.events.turn-start" },
        "omp.events.turn-end": { same: "pi.events.turn-end" },
        "omp.events.message-start": { same: "pi.events.message-start" },
        "omp.events.message-update": { same: "pi.events.message-update" },
        "omp.events.message-end": { same: "pi.events.message-end" },
        "omp.events.tool-start": { same: "pi.events.tool-start" },
        "omp.events.tool-update": { same: "pi.events.tool-update" },
        "omp.events.tool-end": { same: "pi.events.tool-end" },
        "omp.events.compaction-start": { same: "pi.events.compaction-start" },
        "omp.events.compaction-end": { same: "pi.events.compaction-end" },
        "omp.events.retry-start": { same: "pi.events.retry-start" },
        "omp.events.retry-end": {
          text: "`auto_retry_end` says that the retries are over.",
          same: "pi.events.retry-end-success",
        },
        "omp.events.ttsr-triggered": "`ttsr_triggered` says that a stream rule has matched the answer of the model.",
        "omp.events.todo-reminder": "`todo_reminder` says that the agent is reminded of unfinished todos.",
        "omp.events.extension-error": {
          text: "An error of the extension runner is `extension_error` with `extensionPath`, `event` and `error`.",
          same: "omp.framing.out-extension-error",
        },
        "omp.update.text": { text: "`message_update` streams text increments.", same: "pi.update.text-delta" },
        "omp.update.thinking": {
          text: "`message_update` streams thinking increments.",
          same: "pi.update.thinking-delta",
        },
        "omp.update.toolcall": {
          text: "`message_update` streams tool-call increments.",
          same: "pi.update.toolcall-delta",
        },
      },
    },
    {
      heading: "Prompt/Queue Concurrency and Ordering > Immediate ack vs completion",
      area: "prompt",
      rows: {
        "omp.prompt.returns-immediately": { same: "pi.prompt.returns-immediately" },
        "omp.prompt.response": { same: "pi.prompt.response" },
        "omp.abort-and-prompt.returns-immediately": {
          text: "`abort_and_prompt` is answered at once, before the new run has ended.",
        },
        "omp.prompt.accepted-is-not-completed":
          "A success response means that the prompt was accepted, not that it is done.",
        "omp.prompt.completion": "The end of the run is told by `agent_end`.",
      },
    },
    {
      heading: "Prompt/Queue Concurrency and Ordering > While streaming",
      area: "prompt",
      rows: {
        "omp.prompt.busy-needs-behavior": { same: "pi.prompt.busy-needs-behavior" },
        "omp.prompt.steer-queued": {
          text: "`streamingBehavior: steer` queues the message on the path that interrupts.",
        },
        "omp.prompt.follow-up-queued": {
          text: "`streamingBehavior: followUp` queues the message on the path after the turn.",
          same: "pi.prompt.follow-up-waits",
        },
        "omp.prompt.busy-error": { same: "pi.prompt.busy-error" },
      },
    },
    {
      heading: "Prompt/Queue Concurrency and Ordering > Queue defaults",
      area: "queue-modes",
      rows: {
        "omp.queue-modes.steering-default": { same: "pi.queue-modes.steering-default" },
        "omp.queue-modes.follow-up-default": { same: "pi.queue-modes.follow-up-default" },
        "omp.queue-modes.interrupt-default": {
          text: "The interrupt mode is `immediate` unless it is set.",
          dialects: ["pi", "omp"],
        },
      },
    },
    {
      heading: "Prompt/Queue Concurrency and Ordering > Mode semantics",
      area: "queue-modes",
      rows: {
        "omp.queue-modes.steering-one": {
          text: "Steering mode `one-at-a-time` takes one message out of the queue in each turn.",
          same: "pi.queue-modes.steering-one",
        },
        "omp.queue-modes.steering-all": {
          text: "Steering mode `all` takes the whole queue at once.",
          same: "pi.queue-modes.steering-all",
        },
        "omp.queue-modes.follow-up-one": {
          text: "Follow-up mode `one-at-a-time` takes one message out of the queue in each turn.",
          same: "pi.queue-modes.follow-up-one",
        },
        "omp.queue-modes.follow-up-all": {
          text: "Follow-up mode `all` takes the whole queue at once.",
          same: "pi.queue-modes.follow-up-all",
        },
        "omp.queue-modes.immediate-checks":
          "Interrupt mode `immediate` looks for steering messages between tool calls.",
        "omp.queue-modes.immediate-skips":
          "Interrupt mode `immediate` may leave out the tool calls of the turn that have not run.",
        "omp.queue-modes.wait": "Interrupt mode `wait` delivers steering messages when the turn is complete.",
      },
    },
    {
      heading: "Extension UI Sub-Protocol",
      area: "dialogs",
      rows: {
        "omp.ui.frames": {
          text: "Extensions talk to the host by UI request and response frames.",
          same: "pi.ui.from-context",
        },
      },
    },
    {
      heading: "Extension UI Sub-Protocol > Outbound request",
      area: "dialogs",
      rows: {
        "omp.ui.select": { same: "pi.ui.select" },
        "omp.ui.confirm": { same: "pi.ui.confirm" },
        "omp.ui.input": { same: "pi.ui.input" },
        "omp.ui.editor": { same: "pi.ui.editor" },
        "omp.ui.notify": { same: "pi.ui.notify" },
        "omp.ui.set-status": { same: "pi.ui.set-status" },
        "omp.ui.set-widget": { same: "pi.ui.set-widget" },
        "omp.ui.set-title": { same: "pi.ui.set-title" },
        "omp.ui.set-editor-text": { same: "pi.ui.set-editor-text" },
        "omp.ui.timeout-milliseconds": "`timeout` of a dialog is told to the host in milliseconds.",
      },
    },
    {
      heading: "Extension UI Sub-Protocol > Inbound response",
      area: "dialogs",
      rows: {
        "omp.ui.answer-value": { same: "pi.ui.answer-value" },
        "omp.ui.answer-confirmed": { same: "pi.ui.answer-confirmed" },
        "omp.ui.answer-cancelled": { same: "pi.ui.answer-cancelled" },
        "omp.ui.timeout-default": "A dialog with a timeout gets its default value when the time is up.",
        "omp.ui.abort-default": "A dialog gets its default value when it is aborted.",
      },
    },
    {
      heading: "Error Model and Recoverability",
      area: "errors",
      rows: {
        "omp.errors.failure": { same: "pi.errors.failure" },
        "omp.errors.model-not-found": { same: "pi.errors.model-not-found" },
        "omp.errors.alive-after-failure": "After a failed command the process lives on and answers the next one.",
        "omp.errors.continue-after-parse": "After a malformed line the following lines are read and answered.",
        "omp.errors.empty-session-name": {
          text: "An empty name in `set_session_name` is refused with `Session name cannot be empty`.",
        },
        "omp.errors.unknown-ui-response": "A UI response with an unknown `id` is ignored.",
        "omp.errors.ends-at-eof": { text: "The process ends when stdin closes.", same: "omp.cli.eof-exit" },
        "omp.errors.ends-by-extension": "An extension can ask the process to shut down.",
      },
    },
    {
      heading: "Compact Command Flows",
      area: "prompt",
      rows: {
        "omp.flow.prompt-and-stream":
          "Prompting gives the response, then agent_start, message_update with text_delta, and agent_end with messages.",
        "omp.flow.prompt-while-streaming": {
          text: "A prompt with an explicit queue policy is taken while a run streams.",
        },
        "omp.flow.tune-queues": "get_state, set_steering_mode and set_interrupt_mode can be sent one after the other.",
        "omp.flow.ui-round-trip": {
          text: "An input request and the answer with the same id and a value make a round trip.",
        },
      },
    },
    {
      heading: "Notes on RpcClient helper",
      area: "client",
      rows: {
        "omp.client.wrapper": "`src/modes/rpc/rpc-client.ts` gives RpcClient, a convenience on top of the protocol.",
        "omp.client.spawns": "RpcClient starts the CLI it is given with `--mode rpc`.",
        "omp.client.request-ids": "RpcClient gives its requests the ids `req_1`, `req_2` and so on.",
        "omp.client.known-events": "RpcClient passes only events it knows to its listeners.",
        "omp.client.every-command":
          "Every command can be reached through RpcClient, `set_interrupt_mode` and `set_session_name` included.",
        "omp.client.raw-frames": "A command without a method of its own can be sent as a raw frame.",
      },
    },
  ],
} as const satisfies SeedTable;

export type OmpId = IdsOf<typeof OMP>;
