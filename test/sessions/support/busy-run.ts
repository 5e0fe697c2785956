import fc from "fast-check";
import { at, type Frame, list } from "../../support/frame.ts";
import type { RpcProcess } from "../../support/rpc-process.ts";

/** A host that never waits: prompts, queues, names, labels, other places, copies, summaries, models and shell commands. */

/** Three calls of the model for one prompt; then it begins anew, so that every prompt comes to an end. */
export const BUSY_SCRIPT = {
  onEnd: "loop",
  turns: [
    {
      steps: [
        { thinking: "first I look" },
        { text: "Looking around. ", times: 6, pace: 3 },
        { toolCall: { name: "bash", arguments: { command: "seq 1 4000; sleep 0.05" } } },
      ],
    },
    {
      steps: [
        { text: "And both of these." },
        { toolCall: { name: "bash", arguments: { command: "echo one; sleep 0.1" } } },
        { toolCall: { name: "write", arguments: { path: "notes.txt", content: "ü\u2028 and more\n".repeat(50) } } },
      ],
    },
    { steps: [{ text: "That is all. ", times: 5, pace: 4 }] },
  ],
};

/** A second model to change to; nobody ever asks it anything. */
export const OTHER_MODEL = JSON.stringify({
  providers: {
    acme: { baseUrl: "http://127.0.0.1:9", apiKey: "k", api: "anthropic-messages", models: [{ id: "m" }] },
  },
});

const STEPS = [
  ...["prompt", "prompt", "prompt", "steer", "steer", "follow_up", "bash", "name", "label", "level", "model"],
  ...["compact", "navigate", "summarize", "fork", "clone"],
] as const;
type StepName = (typeof STEPS)[number];

export interface BusyPlan {
  steps: { name: StepName; waitMs: number; lot: number }[];
  /** When the process is killed: so long after the first step, or when so many frames have come. */
  kill: { afterMs: number } | { afterFrames: number };
  /** Cuts the last line of the file at this part of its length, as a loss of power may do. */
  tear: number | undefined;
}

const step = fc.record({
  name: fc.constantFrom(...STEPS),
  waitMs: fc.constantFrom(0, 0, 1, 5, 20, 60, 150),
  lot: fc.nat(1000),
});
export const busyPlan: fc.Arbitrary<BusyPlan> = fc.noBias(
  fc.record({
    steps: fc.array(step, { minLength: 40, maxLength: 40 }),
    kill: fc.oneof(
      fc.record({ afterMs: fc.integer({ min: 0, max: 900 }) }),
      fc.record({ afterFrames: fc.integer({ min: 1, max: 120 }) }),
    ),
    tear: fc.oneof(
      { weight: 3, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.double({ min: 0.01, max: 0.99, noNaN: true }) },
    ),
  }),
);

/** A stay of one process in one session. */
export interface Stay {
  path: string;
  /** The first frame that belongs to it. */
  since: number;
  /** Of commands that were answered: fields that an entry of the file must have. */
  answered: Frame[];
  /** A command that leaves the session was sent when so many frames had come. It may have been done without an answer. */
  leavingSince?: number;
}

/** Goes through the steps until the process is gone, and notes in `stays` where it was. */
export async function keepBusy(rpc: RpcProcess, { steps }: BusyPlan, stays: Stay[]): Promise<void> {
  for (const { name, waitMs, lot } of steps) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    await DO[name](rpc, lot, stays);
  }
}

type Doing = (rpc: RpcProcess, lot: number, stays: Stay[]) => Promise<unknown>;

const DO: Readonly<Record<StepName, Doing>> = {
  prompt: (rpc, lot) =>
    rpc.call({ type: "prompt", message: `do ${lot}`, ...(lot % 2 ? { streamingBehavior: "followUp" } : {}) }),
  steer: (rpc, lot) => rpc.call({ type: "steer", message: `rather ${lot}` }),
  follow_up: (rpc, lot) => rpc.call({ type: "follow_up", message: `then ${lot}` }),
  bash: (rpc, lot) => rpc.call({ type: "bash", command: `echo ${lot}` }),
  name: (rpc, lot, stays) =>
    answered(rpc, { type: "set_session_name", name: `n${lot}` }, stays, () => ({ name: `n${lot}` })),
  level: (rpc, lot) => rpc.call({ type: "set_thinking_level", level: lot % 2 ? "low" : "high" }),
  async model(rpc) {
    await rpc.call({ type: "set_model", provider: "acme", modelId: "m" });
    await rpc.call({ type: "set_model", provider: "script", modelId: "script" });
  },
  // It ends what runs, and waits for the model: nobody waits for it here.
  async compact(rpc, lot) {
    rpc.send({ type: "compact", id: `compact-${lot}-${rpc.mark()}` });
  },
  async label(rpc, lot, stays) {
    const targetId = await someEntry(rpc, lot);
    if (targetId)
      await answered(rpc, { type: "set_label", entryId: targetId, label: `l${lot}` }, stays, () => ({ targetId }));
  },
  navigate: (rpc, lot, stays) => navigate(rpc, lot, stays, false),
  summarize: (rpc, lot, stays) => navigate(rpc, lot, stays, true),
  async fork(rpc, lot, stays) {
    const { data } = await rpc.call({ type: "get_fork_messages" });
    const points = list(at(data, "messages"));
    // The very first would be an empty session again and again.
    const point = points[1 + (lot % Math.max(1, points.length - 1))];
    if (point) await entered(rpc, { type: "fork", entryId: at(point, "entryId") }, stays);
  },
  clone: (rpc, _lot, stays) => entered(rpc, { type: "clone" }, stays),
};

async function someEntry(rpc: RpcProcess, lot: number): Promise<string | undefined> {
  const { data } = await rpc.call({ type: "get_entries" });
  const entries = list(at(data, "entries"));
  return entries.length === 0 ? undefined : String(at(entries[lot % entries.length], "id"));
}

async function navigate(rpc: RpcProcess, lot: number, stays: Stay[], summarize: boolean): Promise<void> {
  const entryId = await someEntry(rpc, lot);
  if (!entryId) return;
  const leafOf = (data: unknown): Frame => ({ id: at(data, "leafId") });
  await answered(rpc, { type: "navigate_tree", entryId, summarize }, stays, leafOf);
}

async function answered(
  rpc: RpcProcess,
  command: { type: string } & Record<string, unknown>,
  stays: Stay[],
  entryOf: (data: unknown) => Frame,
): Promise<void> {
  const { success, data } = await rpc.call(command);
  const entry = entryOf(data);
  if (success && entry.id !== null) stays.at(-1)?.answered.push(entry);
}

/** The old session is complete; what is told from now on is another one's. */
async function entered(
  rpc: RpcProcess,
  command: { type: string } & Record<string, unknown>,
  stays: Stay[],
): Promise<void> {
  const stay = stays.at(-1);
  const leavingSince = rpc.mark();
  if (stay) stay.leavingSince = leavingSince;
  const answer = await rpc.call(command);
  if (!answer.success) {
    delete stay?.leavingSince;
    return;
  }
  const { data } = await rpc.call({ type: "get_state" });
  const since = enteringFrom(rpc.frames, leavingSince, rpc.frames.indexOf(answer));
  stays.push({ path: String(at(data, "sessionFile")), since, answered: [] });
}

const ENTERING = new Set<unknown>(["thinking_level_changed", "notice"]);
const PASSING = new Set<unknown>(["message_update", "tool_execution_update", "bash_execution_update"]);

/** Events with a number that are kept to be told again. */
export function isKeptEvent({ type, seq }: Frame): boolean {
  return seq !== undefined && !PASSING.has(type);
}

/**
 * What is told when another session is entered is one of its events already, though the answer follows, or does not
 * follow any more: where they begin among the frames of a switch, which are those from `since` to `end`.
 */
export function enteringFrom(frames: readonly Frame[], since: number, end: number): number {
  let from = end;
  for (let index = end - 1; index >= since; index--) {
    const frame = frames[index] as Frame;
    if (!isKeptEvent(frame)) continue;
    if (!ENTERING.has(frame.type)) break;
    from = index;
  }
  return from;
}
