import type { Frame } from "../support/frame.ts";
import type { MomentName } from "./moments.ts";

/**
 * What each command does at each moment. In every cell a follow-up "kept" already waits (a prompt of its own when a run is
 * active), so that every row also says what becomes of it; a prompt "next" comes afterwards and must work.
 */

export type Status = "completed" | "aborted" | "error";

export interface Outcome {
  /** The cell in one sentence. */
  says: string;
  /** The answers by id, as far as they matter here. */
  answers?: Record<string, object>;
  /** How each accepted prompt ends, by id. Those that still wait afterwards end with the prompt "next". */
  results?: Record<string, Status>;
  /** What still waits when all is quiet. */
  waiting?: { steering?: string[]; followUp?: string[] };
  /** The user messages in their order, the prompt "next" included. */
  conversation: readonly string[];
  /** The user messages that were delivered before, and that are no longer part of the conversation. */
  before?: readonly string[];
  /** What a get_state says that was sent right behind the command. */
  state?: object;
  /** The process ends with this code; then there is no "next". */
  exit?: number;
  /** A frame that must have come. */
  tells?: object;
  /** Another session is open then, and nothing of the one before is left. */
  leavesSession?: true;
}

export interface Command {
  name: string;
  /** Sent in one write. */
  frames?: readonly Frame[];
  /** And then this. */
  afterwards?: "close stdin" | "SIGTERM" | "SIGINT";
  args?: readonly string[];
  /** What it sets outlives the session. */
  changesSettings?: true;
  /** What the model says to the command's own prompt, when "ok" at once would be too quick. */
  model?: string;
  /** By moment; `active` stands for all moments of a run that have no line of their own. */
  cells: Partial<Record<MomentName | "active", Outcome>> & { idle: Outcome; active: Outcome };
}

const BUSY = "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
const NOTHING = "Nothing to compact (session too small)";
const ok = { success: true };
const started = { success: true, data: { disposition: "started" } };
const queued = { success: true, data: { disposition: "queued" } };
const streaming = { isStreaming: true, isSettled: false };
const keptWaits = { followUp: ["kept"] };

const prompt = (extra: object = {}): Frame => ({ id: "new", type: "prompt", message: "new", ...extra });
const abortAndPrompt = (text: string): Frame => ({ id: text, type: "abort_and_prompt", message: text });

/** Nothing happens to the run, and the follow-up is delivered at its end. */
const goesOn = (says: string, more: Partial<Outcome> = {}): Outcome => ({
  says,
  results: { run: "completed", kept: "completed" },
  conversation: ["go", "kept", "next"],
  state: streaming,
  ...more,
});
/** Nothing runs before and after, and the follow-up goes on waiting. */
const staysIdle = (says: string, more: Partial<Outcome> = {}): Outcome => ({
  says,
  waiting: keptWaits,
  conversation: ["next", "kept"],
  state: { isStreaming: false, isSettled: false, pendingMessageCount: 1 },
  ...more,
});
const runEnds = (says: string, more: Partial<Outcome> = {}): Outcome => ({
  says,
  results: { run: "aborted", kept: "completed" },
  waiting: keptWaits,
  conversation: ["go", "next", "kept"],
  state: streaming,
  ...more,
});
const starts = (says: string): Outcome => ({
  says,
  answers: { new: started },
  results: { new: "completed" },
  conversation: ["new", "kept", "next"],
  state: streaming,
});

const switched = {
  steeringMode: "all",
  followUpMode: "all",
  interruptMode: "immediate",
  autoRetryEnabled: false,
  autoCompactionEnabled: false,
};
const allSet = { steering: ok, followUp: ok, interrupt: ok, retry: ok, compaction: ok };

const beside = { messages: ok, thinking: ok, bash: { success: true, data: { cancelled: true } }, end: ok, name: ok };
const noneFound = { fork: { success: false }, tree: { success: false }, model: { success: false } };

const steered = goesOn("Queued; delivered when the turn is complete, before the follow-up that waits longer.", {
  answers: { new: queued },
  conversation: ["go", "new", "kept", "next"],
  state: { ...streaming, pendingMessageCount: 2, queuedMessageCount: 2 },
});
const steeredIdle = staysIdle("Queued; nothing starts; the next prompt has it right behind its own message.", {
  answers: { new: queued },
  waiting: { steering: ["new"], followUp: ["kept"] },
  conversation: ["next", "new", "kept"],
  state: { isStreaming: false, isSettled: false, pendingMessageCount: 2 },
});
const followed = goesOn("Queued; delivered when the agent would stop, behind the follow-up that waits longer.", {
  answers: { new: queued },
  conversation: ["go", "kept", "new", "next"],
  state: { ...streaming, pendingMessageCount: 2 },
});
const endsToo = (outcome: Outcome, says: string): Outcome => ({
  ...outcome,
  says,
  results: { ...outcome.results, new: "completed" },
});

/** The run and what waits end with the session that they belong to. */
const sessionLeft = (says: string): Outcome => ({
  says,
  answers: { new: { success: true, data: { cancelled: false } } },
  results: { run: "aborted", kept: "aborted" },
  before: ["go"],
  conversation: ["next"],
  state: { isStreaming: false, isSettled: true, pendingMessageCount: 0, messageCount: 0 },
  leavesSession: true,
});
const leftIdle = (says: string): Outcome => ({ ...sessionLeft(says), results: {}, before: [] });

export const COMMANDS: readonly Command[] = [
  {
    name: "prompt",
    frames: [prompt()],
    cells: {
      idle: starts("A run starts; the follow-up that waited is delivered at its end."),
      active: goesOn("Refused as busy; the run goes on.", { answers: { new: { success: false, error: BUSY } } }),
    },
  },
  {
    name: "prompt, streamingBehavior steer",
    frames: [prompt({ streamingBehavior: "steer" })],
    cells: {
      idle: starts("A run starts, as if the field were not there."),
      active: endsToo(
        steered,
        "Queued as steering, delivered when the turn is complete; its result comes with the run's.",
      ),
    },
  },
  {
    name: "prompt, streamingBehavior followUp",
    frames: [prompt({ streamingBehavior: "followUp" })],
    cells: {
      idle: starts("A run starts, as if the field were not there."),
      active: endsToo(
        followed,
        "Queued as follow-up, delivered when the agent would stop; its result comes with the run's.",
      ),
    },
  },
  {
    name: "two prompts in one write",
    frames: [prompt(), { id: "newer", type: "prompt", message: "newer" }],
    cells: {
      idle: {
        ...starts("The first starts a run, the second is refused as busy."),
        answers: { new: started, newer: { success: false, error: BUSY } },
      },
      active: goesOn("Both are refused as busy.", {
        answers: { new: { success: false, error: BUSY }, newer: { success: false, error: BUSY } },
      }),
    },
  },
  {
    name: "steer",
    frames: [{ id: "new", type: "steer", message: "new" }],
    cells: { idle: steeredIdle, active: steered },
  },
  {
    name: "steer, interrupt mode immediate",
    frames: [{ id: "new", type: "steer", message: "new" }],
    args: ["--set", "interruptMode=immediate"],
    cells: {
      idle: steeredIdle,
      active: steered,
      "running several tools": {
        ...steered,
        says: "Queued; the running call completes, the others are skipped with an error result, then it is delivered.",
        tells: {
          type: "tool_execution_end",
          toolName: "read",
          isError: true,
          result: { content: [{ type: "text", text: "Skipped due to queued user message." }] },
        },
      },
    },
  },
  {
    name: "follow_up",
    frames: [{ id: "new", type: "follow_up", message: "new" }],
    cells: {
      idle: staysIdle("Queued; nothing starts; delivered when the next prompt's run would stop.", {
        answers: { new: queued },
        waiting: { followUp: ["kept", "new"] },
        conversation: ["next", "kept", "new"],
        state: { isStreaming: false, isSettled: false, pendingMessageCount: 2 },
      }),
      active: followed,
    },
  },
  {
    name: "abort",
    frames: [{ id: "new", type: "abort" }],
    cells: {
      idle: staysIdle("Answered at once; nothing to end; the queue is kept.", { answers: { new: ok } }),
      active: runEnds(
        "The run ends as aborted, answered after its last event; the queue is kept for the next prompt.",
        {
          answers: { new: ok },
        },
      ),
      "retry delay": runEnds(
        "The pause ends, no further attempt is made; the prompt ends as aborted, the queue is kept.",
        {
          answers: { new: ok },
          tells: { type: "auto_retry_end", success: false, finalError: "Retry cancelled" },
        },
      ),
      compacting: runEnds(
        "The summary is given up, nothing is compacted; the prompt ends as aborted, the queue is kept.",
        {
          answers: { new: ok },
          tells: { type: "auto_compaction_end", aborted: true, willRetry: false },
        },
      ),
      "dialog open": runEnds(
        "The dialog is withdrawn and its tool does not run; the run ends as aborted, the queue is kept.",
        {
          answers: { new: ok },
          tells: { type: "tool_execution_end", toolName: "bash", isError: true },
        },
      ),
      "dialog open while idle": staysIdle(
        "Answered at once; the dialog of a command is not the run's, it stays open.",
        {
          answers: { new: ok },
        },
      ),
    },
  },
  {
    name: "prompt, steer and abort in one write",
    frames: [prompt(), { id: "newer", type: "steer", message: "newer" }, { id: "last", type: "abort" }],
    cells: {
      idle: {
        says: "The prompt starts and ends as aborted; the steering message is not spent on it, it waits.",
        answers: { new: started, newer: queued, last: ok },
        results: { new: "aborted" },
        waiting: { steering: ["newer"], followUp: ["kept"] },
        conversation: ["new", "next", "newer", "kept"],
      },
      active: runEnds("The prompt is refused as busy, the run ends as aborted, the steering message waits.", {
        answers: { new: { success: false, error: BUSY }, newer: queued, last: ok },
        waiting: { steering: ["newer"], followUp: ["kept"] },
        conversation: ["go", "next", "newer", "kept"],
      }),
    },
  },
  {
    name: "two aborts in one write",
    frames: [
      { id: "new", type: "abort" },
      { id: "newer", type: "abort" },
    ],
    cells: {
      idle: staysIdle("Both are answered at once.", { answers: { new: ok, newer: ok } }),
      active: runEnds("The run ends once, and both are answered after its last event.", {
        answers: { new: ok, newer: ok },
      }),
    },
  },
  {
    name: "abort_and_prompt",
    frames: [abortAndPrompt("new")],
    cells: {
      idle: starts("A run starts, as with prompt."),
      active: goesOn("The run ends as aborted, then the answer comes, then the new run; it delivers what waits.", {
        answers: { new: started },
        results: { run: "aborted", new: "completed", kept: "completed" },
        conversation: ["go", "new", "kept", "next"],
      }),
    },
  },
  {
    name: "abort_and_prompt without a message",
    frames: [{ id: "new", type: "abort_and_prompt", message: "" }],
    cells: {
      idle: staysIdle("Refused.", { answers: { new: { success: false } } }),
      active: goesOn("Refused; a command that cannot be done does not end the run either.", {
        answers: { new: { success: false } },
      }),
    },
  },
  {
    name: "two abort_and_prompts in one write",
    frames: [abortAndPrompt("new"), abortAndPrompt("newer")],
    cells: {
      idle: {
        says: "The first starts and is aborted by the second.",
        answers: { new: started, newer: started },
        results: { new: "aborted", newer: "completed" },
        conversation: ["new", "newer", "kept", "next"],
        state: streaming,
      },
      active: goesOn("The run ends, the first starts and is aborted by the second.", {
        answers: { new: started, newer: started },
        results: { run: "aborted", new: "aborted", newer: "completed", kept: "completed" },
        conversation: ["go", "new", "newer", "kept", "next"],
      }),
    },
  },
  {
    name: "abort_and_prompt, then prompt in one write",
    frames: [abortAndPrompt("new"), { id: "newer", type: "prompt", message: "newer" }],
    cells: {
      idle: {
        ...starts("The first starts a run, the second is refused as busy."),
        answers: { new: started, newer: { success: false, error: BUSY } },
      },
      active: goesOn("The run is replaced by the first; the second is refused as busy.", {
        answers: { new: started, newer: { success: false, error: BUSY } },
        results: { run: "aborted", new: "completed", kept: "completed" },
        conversation: ["go", "new", "kept", "next"],
      }),
    },
  },
  {
    name: "abort_and_prompt, then abort in one write",
    frames: [abortAndPrompt("new"), { id: "newer", type: "abort" }],
    cells: {
      idle: staysIdle("The new prompt starts and ends as aborted: an abort ends every prompt read before it.", {
        answers: { new: started, newer: ok },
        results: { new: "aborted" },
        conversation: ["new", "next", "kept"],
        state: streaming,
      }),
      active: runEnds("Both the run and the new prompt end as aborted: an abort ends every prompt read before it.", {
        answers: { new: started, newer: ok },
        results: { run: "aborted", new: "aborted", kept: "completed" },
        conversation: ["go", "new", "next", "kept"],
      }),
    },
  },
  {
    name: "abort_retry",
    frames: [{ id: "new", type: "abort_retry" }],
    cells: {
      idle: staysIdle("Answered; nothing to give up.", { answers: { new: ok } }),
      active: goesOn("Answered; no pause to give up, the run goes on.", { answers: { new: ok } }),
      "retry delay": runEnds("The pause ends, and the prompt ends with the error that it had.", {
        answers: { new: ok },
        results: { run: "error", kept: "completed" },
        tells: { type: "auto_retry_end", success: false, finalError: "Retry cancelled" },
      }),
    },
  },
  {
    name: "clear_queue",
    frames: [{ id: "new", type: "clear_queue" }],
    cells: {
      idle: staysIdle("The queued texts come back.", {
        answers: { new: { success: true, data: { steering: [], followUp: ["kept"] } } },
        waiting: {},
        conversation: ["next"],
        state: { isStreaming: false, isSettled: true, pendingMessageCount: 0 },
      }),
      "dialog open while idle": staysIdle("The queued texts come back; the command that asks is still at work.", {
        answers: { new: { success: true, data: { steering: [], followUp: ["kept"] } } },
        waiting: {},
        conversation: ["next"],
        state: { isStreaming: false, isSettled: false, pendingMessageCount: 0 },
      }),
      active: goesOn("The queued texts come back, a prompt among them ends as aborted; the run goes on.", {
        answers: { new: { success: true, data: { steering: [], followUp: ["kept"] } } },
        results: { run: "completed", kept: "aborted" },
        conversation: ["go", "next"],
        state: { ...streaming, pendingMessageCount: 0 },
      }),
    },
  },
  {
    name: "set_steering_mode, set_follow_up_mode, set_interrupt_mode, set_auto_retry, set_auto_compaction",
    changesSettings: true,
    frames: [
      { id: "steering", type: "set_steering_mode", mode: "all" },
      { id: "followUp", type: "set_follow_up_mode", mode: "all" },
      { id: "interrupt", type: "set_interrupt_mode", mode: "immediate" },
      { id: "retry", type: "set_auto_retry", enabled: false },
      { id: "compaction", type: "set_auto_compaction", enabled: false },
    ],
    cells: {
      idle: staysIdle("The switch is set.", { answers: allSet, state: switched }),
      active: goesOn("The switch is set and the run goes on.", {
        answers: allSet,
        state: { ...streaming, ...switched },
      }),
      "retry delay": goesOn("The switch is set; a pause that has begun still ends in its attempt.", {
        answers: allSet,
        state: { ...streaming, ...switched },
      }),
    },
  },
  {
    name: "get_state",
    frames: [{ id: "new", type: "get_state" }],
    cells: {
      idle: staysIdle("Says that nothing streams, and that a waiting message is not the settled state.", {
        answers: { new: { success: true, data: { isStreaming: false, isSettled: false, queuedMessageCount: 1 } } },
      }),
      active: goesOn("Says that the session streams, and how much waits.", {
        answers: { new: { success: true, data: { ...streaming, pendingMessageCount: 1, queuedMessageCount: 1 } } },
      }),
      "retry delay": goesOn("Says that the session streams, and which attempt it waits for.", {
        answers: { new: { success: true, data: { ...streaming, retry: { attempt: 1 } } } },
      }),
      compacting: goesOn("Says that the session streams and compacts.", {
        answers: { new: { success: true, data: { ...streaming, isCompacting: true } } },
      }),
      "dialog open": goesOn("Says that the session streams, and which dialog is open.", {
        answers: { new: { success: true, data: { ...streaming, pendingDialogs: [{ title: "May it run?" }] } } },
      }),
      "dialog open while idle": staysIdle("Says that nothing streams, and which dialog is open.", {
        answers: { new: { success: true, data: { isStreaming: false, pendingDialogs: [{ title: "Well?" }] } } },
      }),
    },
  },
  {
    name: "get_messages, set_thinking_level, bash, abort_bash, set_session_name",
    changesSettings: true,
    frames: [
      { id: "messages", type: "get_messages" },
      { id: "thinking", type: "set_thinking_level", level: "low" },
      { id: "bash", type: "bash", command: "sleep 30" },
      { id: "end", type: "abort_bash" },
      { id: "name", type: "set_session_name", name: "new" },
    ],
    cells: {
      idle: staysIdle("Done beside everything else.", { answers: beside, state: { sessionName: "new" } }),
      active: goesOn("Done; the run goes on.", { answers: beside, state: { ...streaming, sessionName: "new" } }),
    },
  },
  {
    name: "fork, navigate_tree, set_model to what is not there",
    frames: [
      { id: "fork", type: "fork", entryId: "nowhere" },
      { id: "tree", type: "navigate_tree", entryId: "nowhere" },
      { id: "model", type: "set_model", provider: "nobody", modelId: "nothing" },
    ],
    cells: {
      idle: staysIdle("Refused.", { answers: noneFound }),
      active: goesOn("Refused; a command that cannot be done does not end the run either.", { answers: noneFound }),
    },
  },
  {
    name: "new_session",
    frames: [{ id: "new", type: "new_session" }],
    cells: {
      idle: leftIdle("A new session; what waited is dropped."),
      active: sessionLeft(
        "The run and the queued prompt end as aborted, then the answer comes; nothing waits any more.",
      ),
      "dialog open while idle": leftIdle("A new session; what waited is dropped, the dialog is withdrawn."),
    },
  },
  {
    name: "switch_session",
    frames: [{ id: "new", type: "switch_session", sessionPath: "other.jsonl" }],
    cells: {
      idle: leftIdle("The other session; what waited is dropped."),
      active: sessionLeft(
        "The run and the queued prompt end as aborted, then the answer comes; nothing waits any more.",
      ),
      "dialog open while idle": leftIdle("The other session; what waited is dropped, the dialog is withdrawn."),
    },
  },
  {
    name: "switch_session to what is no session",
    frames: [{ id: "new", type: "switch_session", sessionPath: "a.txt" }],
    cells: {
      idle: staysIdle("Refused.", { answers: { new: { success: false } } }),
      active: goesOn("Refused; a command that cannot be done does not end the run either.", {
        answers: { new: { success: false } },
      }),
    },
  },
  {
    name: "compact",
    frames: [{ id: "new", type: "compact" }],
    model: 'text "Notes."',
    cells: {
      idle: staysIdle("Refused: nothing was said yet.", {
        answers: { new: { success: false, error: NOTHING } },
      }),
      active: runEnds("The run ends as aborted, then the conversation is compacted; the queue is kept.", {
        answers: { new: { success: true } },
        before: ["go"],
        conversation: ["next", "kept"],
        state: { isCompacting: true },
      }),
      compacting: runEnds("The run ends as aborted, then the older part is compacted; the queue is kept.", {
        answers: { new: { success: true } },
        state: { isCompacting: true },
      }),
      "retry delay": runEnds("The run ends as aborted; refused: nothing was answered yet.", {
        answers: { new: { success: false, error: NOTHING } },
        state: undefined,
      }),
    },
  },
  {
    name: "SIGINT",
    afterwards: "SIGINT",
    cells: {
      idle: { says: "The process ends with code 130.", conversation: [], exit: 130 },
      active: runEnds("As abort.", { state: undefined }),
    },
  },
  {
    name: "SIGTERM",
    afterwards: "SIGTERM",
    cells: {
      idle: { says: "The process ends with code 143.", conversation: [], exit: 143 },
      active: {
        says: "The run and the queued prompt end as aborted, tools are ended, exit code 143.",
        results: { run: "aborted", kept: "aborted" },
        conversation: ["go"],
        exit: 143,
      },
    },
  },
  {
    name: "stdin closes",
    afterwards: "close stdin",
    cells: {
      idle: { says: "The process ends with code 0.", conversation: [], exit: 0 },
      active: {
        says: "The run and the queued prompt end as aborted, tools are ended, exit code 0.",
        results: { run: "aborted", kept: "aborted" },
        conversation: ["go"],
        exit: 0,
      },
      "dialog open while idle": {
        says: "The dialog gets its default answer and the command its end; the process ends with code 0.",
        conversation: [],
        exit: 0,
      },
    },
  },
  {
    name: "stdin closes, with --finish-on-eof",
    afterwards: "close stdin",
    args: ["--finish-on-eof"],
    cells: {
      idle: { says: "The process ends with code 0.", conversation: [], exit: 0 },
      active: {
        says: "The run and the queued prompt come to their own end, then exit code 0.",
        results: { run: "completed", kept: "completed" },
        conversation: ["go", "kept"],
        exit: 0,
      },
      "dialog open": {
        says: "The dialog gets its default answer, the run and the queued prompt come to their own end, then exit code 0.",
        results: { run: "completed", kept: "completed" },
        conversation: ["go", "kept"],
        exit: 0,
        tells: { type: "tool_execution_end", result: { content: [{ type: "text", text: "It may not." }] } },
      },
    },
  },
  {
    name: "abort_and_prompt, then stdin closes",
    frames: [abortAndPrompt("new")],
    afterwards: "close stdin",
    model: "hang",
    cells: {
      idle: {
        says: "The prompt is answered and ends as aborted, exit code 0.",
        answers: { new: started },
        results: { new: "aborted" },
        conversation: ["new"],
        exit: 0,
      },
      active: {
        says: "The run, the new prompt and the queued one end as aborted, exit code 0.",
        answers: { new: started },
        results: { run: "aborted", new: "aborted", kept: "aborted" },
        conversation: ["go", "new"],
        exit: 0,
      },
    },
  },
];
