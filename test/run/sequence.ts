import fc from "fast-check";
import type { Frame } from "../support/frame.ts";

/** A random story: a model full of faults, and commands that come at any time. */

export interface Sequence {
  /** What the model says, one turn a line, in the script model's notation. After these it says "ok" for ever. */
  model: string[];
  args: string[];
  steps: Step[];
  ending: Ending;
  /** Undefined: no extension is there to ask anything. */
  dialogs?: Dialogs;
}

/** An extension that asks, and a host that answers as it likes. */
export interface Dialogs {
  /** Where it asks: names of hooks. */
  where: string[];
  /** What it asks, one letter a call; see test/fixtures/extensions/run/ask-anywhere.ts. */
  plan: string;
  /** How the host answers each dialog, over and over. */
  manners: Manner[];
}

/** `late`: so many milliseconds after it was asked. `never`: until the end of the story. */
export type Manner = "yes" | "no" | "cancel" | "twice" | "nonsense" | "never" | { late: number };

export interface Step {
  /** Milliseconds to wait before it; 0 joins it to the write before. */
  pauseMs: number;
  /** A line for stdin; or the host does not read for a while. */
  action: Action;
}

export type Action = { send: Frame | string } | { stopReadingMs: number };

/** An abort, waiting until nothing runs, closing stdin in the middle, the same with --finish-on-eof, a signal. */
export type Ending = "abort" | "settle" | "close" | "finish" | "SIGTERM";

/** Turns that end by themselves. */
const PASSING_TURNS = [
  'text "ok"',
  'thinking "hm" + text "yes" + stopReason length',
  'text "one two three" chunk 2 pace 3',
  'delay 15 + text "late"',
  'text "before" + delay 25 + text " after"',
  'text "half a sen" + cut',
  "cut",
  'error 429 "slow down" retryAfterMs 10',
  'error 429 "come back tomorrow" retryAfterMs 90000000',
  'error 500 "oops"',
  'text "then it broke" + delay 5 + error 529 "overloaded"',
  'toolCall bash {"command":"true"} + error 529 "overloaded"',
  'error 400 "bad request"',
  'error overflow "prompt is too long"',
  'toolCallRaw bash "{\\"com"',
  "toolCall nobody {}",
  "toolCall bash {}",
  'toolCall bash {"command":"true"}',
  'toolCall bash {"command":"sleep 0.04; echo x"} chunk 5 pace 4',
  'toolCall bash {"command":"echo x; exit 3"} + toolCall read {"path":"a.txt"} + toolCall read {"path":"b.txt"}',
  'toolCall read {"path":"a.txt"} + toolCall nobody {} + toolCall bash {"command":"sleep 0.03"} + toolCall bash {"command":"true"}',
  'toolCall bash {"command":"sleep 30 & echo in the background"}',
  'toolCall write {"path":"made.txt","content":"x"} + toolCall edit {"path":"made.txt","oldText":"x","newText":"y"}',
  'text "0123456789" times 1500',
] as const;

/** Turns that only an abort ends, some of them by model or tools that do not listen to it. */
const BLOCKING_TURNS = [
  'endless "tick " pace 4',
  "hang",
  'text "wait" + ignoreAbort + hang',
  'ignoreAbort + endless "tock " pace 4',
  'toolCall bash {"command":"sleep 30"}',
  'toolCall bash {"command":"trap \'\' TERM INT; while :; do sleep 1; done"} + toolCall read {"path":"a.txt"}',
] as const;

const QUEUE_MODES = ["one-at-a-time", "all"];
const INTERRUPT_MODES = ["wait", "immediate"];

const LIMITS = [{ turns: 2 }, { toolCalls: 1 }, { wallTimeMs: 12 }];

type Draft = (n: number) => Action;

/** Every command has an id of its own, and every message a text of its own. */
const command =
  (type: string, fields: (n: number) => object = () => ({})): Draft =>
  (n) => ({ send: { id: `c${n}`, type, ...fields(n) } });
const message = (type: string, more: object = {}): Draft => command(type, (n) => ({ message: `m${n}`, ...more }));
const setting = (type: string, values: readonly string[]) =>
  fc.constantFrom(...values).map((mode) => command(type, () => ({ mode })));
const always = (draft: Draft) => fc.constant(draft);

const ASKING_HOOKS = [
  "input",
  "before_agent_start",
  "agent_start",
  "turn_start",
  "message_start",
  "context",
  "message_end",
  "tool_call",
  "tool_result",
  "turn_end",
  "agent_end",
  "auto_retry_start",
];
const MANNERS: readonly Manner[] = ["yes", "yes", "no", "cancel", "twice", "nonsense", "never"];

const dialogs: fc.Arbitrary<Dialogs> = fc.record({
  where: fc.uniqueArray(fc.oneof(fc.constant("tool_call"), fc.constant("input"), fc.constantFrom(...ASKING_HOOKS)), {
    minLength: 1,
    maxLength: 4,
  }),
  plan: fc.string({ unit: fc.constantFrom("-", "-", "c", "s", "i", "e", "t", "d"), minLength: 1, maxLength: 12 }),
  manners: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...MANNERS) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 }).map((late): Manner => ({ late })) },
    ),
    { minLength: 1, maxLength: 8 },
  ),
});

const drafts = (abortWeight: number, commandWeight: number): fc.Arbitrary<Draft> =>
  fc.oneof(
    { weight: commandWeight, arbitrary: always(command("prompt", (n) => ({ message: `/ask ${n}` }))) },
    { weight: 8, arbitrary: always(message("prompt")) },
    { weight: 4, arbitrary: always(message("prompt", { streamingBehavior: "steer" })) },
    { weight: 4, arbitrary: always(message("prompt", { streamingBehavior: "followUp" })) },
    { weight: 5, arbitrary: always(message("steer")) },
    { weight: 5, arbitrary: always(message("follow_up")) },
    { weight: abortWeight, arbitrary: always(command("abort")) },
    { weight: abortWeight, arbitrary: always(message("abort_and_prompt")) },
    { weight: 2, arbitrary: always(command("abort_retry")) },
    { weight: 2, arbitrary: always(command("clear_queue")) },
    { weight: 1, arbitrary: setting("set_steering_mode", QUEUE_MODES) },
    { weight: 1, arbitrary: setting("set_follow_up_mode", QUEUE_MODES) },
    { weight: 1, arbitrary: setting("set_interrupt_mode", INTERRUPT_MODES) },
    { weight: 1, arbitrary: fc.boolean().map((enabled) => command("set_auto_retry", () => ({ enabled }))) },
    { weight: 1, arbitrary: fc.boolean().map((enabled) => command("set_auto_compaction", () => ({ enabled }))) },
    { weight: 2, arbitrary: always(command("compact")) },
    { weight: 3, arbitrary: always(command("get_state")) },
    { weight: 1, arbitrary: always(command("get_messages")) },
    { weight: 2, arbitrary: fc.constantFrom(...LIMITS).map((limits) => message("prompt", { limits })) },
    { weight: 1, arbitrary: always(command("prompt", () => ({ message: " " }))) },
    { weight: 1, arbitrary: always(command("steer")) },
    { weight: 1, arbitrary: always(() => ({ send: "{broken" })) },
    { weight: 1, arbitrary: fc.constantFrom(5, 30).map((stopReadingMs) => () => ({ stopReadingMs })) },
  );

const pauses = (longest: number, longWeight: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant(0) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max: 6 }) },
    { weight: longWeight, arbitrary: fc.integer({ min: 7, max: longest }) },
  );

const turns = (blockingWeight: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...PASSING_TURNS) },
    { weight: blockingWeight, arbitrary: fc.constantFrom(...BLOCKING_TURNS) },
  );

const args = fc
  .tuple(fc.constantFrom(...INTERRUPT_MODES), fc.constantFrom("snapshot", "delta"))
  .map(([interrupt, updates]) => ["--set", `interruptMode=${interrupt}`, "--updates", updates]);

interface Temper {
  abortWeight: number;
  longestPause: number;
  pauseWeight: number;
  blockingWeight: number;
  endings: readonly Ending[];
}

/** One gets far, in the other everything is cut short. Only the first has endings that wait for the model. */
const CALM: Temper = {
  abortWeight: 1,
  longestPause: 120,
  pauseWeight: 5,
  blockingWeight: 0,
  endings: ["settle", "settle", "finish", "abort"],
};
const WILD: Temper = {
  abortWeight: 5,
  longestPause: 40,
  pauseWeight: 2,
  blockingWeight: 2,
  endings: ["abort", "abort", "close", "SIGTERM"],
};

const sequenceOf = (
  { abortWeight, longestPause, pauseWeight, blockingWeight, endings }: Temper,
  asks: boolean,
): fc.Arbitrary<Sequence> =>
  fc
    .record({
      model: fc.array(turns(blockingWeight), { minLength: 4, maxLength: 25, size: "max" }),
      args,
      drafted: fc.array(fc.tuple(pauses(longestPause, pauseWeight), drafts(abortWeight, asks ? 3 : 0)), {
        minLength: 10,
        maxLength: 30,
        size: "max",
      }),
      ending: fc.constantFrom(...endings),
      ...(asks && { dialogs }),
    })
    .map(({ drafted, ...rest }) => ({
      ...rest,
      steps: drafted.map(([pauseMs, make], n) => ({ pauseMs, action: make(n) })),
    }));

/** An extension takes a process longer to start: one in three has one. */
export const sequence: fc.Arbitrary<Sequence> = fc.oneof(
  ...[CALM, WILD].flatMap((temper) => [
    { weight: 2, arbitrary: sequenceOf(temper, false) },
    { weight: 1, arbitrary: sequenceOf(temper, true) },
  ]),
);
