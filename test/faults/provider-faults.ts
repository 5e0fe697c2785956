import { randomBytes } from "node:crypto";
import { fail, type MockLlm, type Reply, type ReplyStep } from "../support/mock-llm.ts";
import type { Fault } from "./fault.ts";
import { procText } from "./stage.ts";

/** What a model's server does wrong: to the answer that is awaited, or else to the next one. */

const PATIENCE_MS = 1500;
const IMPATIENT = ["retry.provider.timeoutMs", "retry.provider.idleTimeoutMs"].flatMap((key) => [
  "--set",
  `${key}=${PATIENCE_MS}`,
]);
const MORE: ReplyStep = { type: "text", text: " and more" };

const MUCH_MORE: ReplyStep = { type: "text", text: " and more".repeat(100) };
/** A process that is sent whole events reads less often by now, whatever it does. */
const MOST_READS = 400;

const readsOf = (pid: number): number => Number(/^syscr: (\d+)$/m.exec(procText(pid, "io"))?.[1]);
const connectionsOf = ({ requests }: MockLlm): number => new Set(requests.map(({ clientPort }) => clientPort)).size;

/** Before the head of an answer it is a status, later an event. */
const refusal =
  (status: number, type: string, message: string) =>
  (begun: ReplyStep[]): Reply =>
    begun.length === 0
      ? fail(status, type, message)
      : { steps: [...begun, { type: "errorEvent", kind: type, message }] };

/** One wait is the state itself. A summary that fails is asked for again without a word. */
const isTriedAgain: Fault["felt"] = ({ rpc, since, llm }, { name }) => {
  const waits = rpc.frames.slice(since).filter(({ type }) => type === "auto_retry_start").length;
  return name === "compacting" ? llm.requests.length > 4 : waits > (name === "retry wait" ? 1 : 0);
};

const row = (name: string, says: string, broken: Fault["broken"], more: Partial<Fault> = {}): Fault => ({
  group: "provider",
  name,
  says,
  broken,
  felt: isTriedAgain,
  after: "lives",
  ...more,
});

export const PROVIDER_FAULTS: readonly Fault[] = [
  row("cut", "The connection breaks.", (begun) => ({ steps: [...begun, MORE, { type: "cut" }] })),
  row(
    "stall",
    "Nothing more comes, and the connection stays open.",
    (begun) => ({ steps: [...begun, { type: "stall" }] }),
    {
      args: IMPATIENT,
    },
  ),
  row(
    "slow drip",
    "One byte comes each millisecond.",
    (begun) => ({
      steps: [...begun, { type: "drip", ms: 1 }, MUCH_MORE],
    }),
    // It takes its time and is right in the end.
    { felt: ({ rpc }) => readsOf(rpc.pid) > MOST_READS },
  ),
  row("garbage", "Random bytes, and events that are no JSON.", (begun) => ({
    steps: [
      ...begun,
      { type: "raw", data: randomBytes(5000) },
      { type: "raw", data: '\n\ndata: {"type": "cont\n\nevent: \0\ndata: []\n\n' },
    ],
  })),
  row("4xx", "400; in the middle of an answer, an event that says so.", refusal(400, "invalid_request_error", "No."), {
    // The prompt ends with it.
    felt: undefined,
  }),
  row("5xx", "503; in the middle of an answer, an event that says so.", refusal(503, "api_error", "Not now.")),
  row(
    "length too long",
    "The head promises more bytes than come. It shows only in that the connection is not used again.",
    (begun) => ({ steps: [...begun, MORE], headers: { "content-length": "100000" } }),
    // The answer itself has said that it is over. Only its connection is of no more use.
    { args: IMPATIENT, felt: undefined, feltWithNext: ({ llm }) => connectionsOf(llm) > 1 },
  ),
  row("length too short", "The head promises fewer bytes than come.", (begun) => ({
    steps: [...begun, MORE],
    headers: { "content-length": "700" },
  })),
  row("TLS cut", "A connection with TLS breaks.", (begun) => ({ steps: [...begun, MORE, { type: "cut" }] }), {
    overTls: true,
  }),
];
