import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { at, type Frame } from "../support/frame.ts";
import { fail, type Reply, say, useTool } from "../support/mock-llm.ts";
import { type Model, promptOn, responseTo, type Stage, until } from "./stage.ts";

/** What a process can be doing when a fault strikes. */

export interface State {
  name: string;
  /** A run is on its way: an interrupt aborts it. */
  active: boolean;
  /** Nothing was asked before it, and nothing is on the disk yet. */
  isFirst?: true;
  args?: string[];
  /** What the model answers to the prompts of the state, in order. */
  replies(model: Model): Reply[];
  /** Resolves when the process is in the state. */
  reach(stage: Stage): Promise<void>;
  /** The host does its part, so that the state comes to its end; the prompt "go" has been sent by then. */
  goOn(stage: Stage): Promise<void> | void;
  /** What is open, and whom it waits for. */
  asks?: "dialog" | "host call";
  /** The entry, beside those of the run, that the file has of it when the process ends in it. */
  leaves?(entry: Frame): boolean;
}

const WAIT = "until [ -e go ]; do sleep 0.02; done; echo done";
const TOOL = { name: "lent", description: "A tool of the host", parameters: { type: "object", properties: {} } };

const set = (key: string, value: string | number | boolean): string[] => ["--set", `${key}=${value}`];
const event = (type: string) => (frame: Frame) => frame.type === type;
const isDelta = (frame: Frame): boolean => at(frame, "assistantMessageEvent", "type") === "text_delta";
const isQuestion = (frame: Frame): boolean => frame.type === "extension_ui_request" && frame.method === "select";
const isHostCall = event("host_tool_call");

async function promptUntil(stage: Stage, begins: (frame: Frame) => boolean): Promise<void> {
  await promptOn(stage, "go");
  await stage.rpc.waitFor(begins, { since: stage.since });
}

const letGo = ({ rpc }: Stage): void => writeFileSync(join(rpc.sandbox.cwd, "go"), "");
const openGate = ({ open }: Stage): void => open();

async function answer({ rpc, since }: Stage, asks: (frame: Frame) => boolean, fields: object): Promise<void> {
  const { id } = await rpc.waitFor(asks, { since });
  rpc.send({ ...fields, id });
}

export const STATES: readonly State[] = [
  {
    name: "just started",
    active: false,
    isFirst: true,
    replies: (model) => model.next(),
    reach: async () => undefined,
    goOn: (stage) => promptOn(stage, "go"),
  },
  {
    name: "idle",
    active: false,
    replies: (model) => model.next(),
    reach: async () => undefined,
    goOn: (stage) => promptOn(stage, "go"),
  },
  {
    name: "waiting for the first byte",
    active: true,
    replies: (model) => [model.head()],
    async reach(stage) {
      await promptOn(stage, "go");
      await until("the model is asked", () => stage.llm.requests.length > 1);
    },
    goOn: openGate,
  },
  {
    name: "streaming",
    active: true,
    replies: (model) => [model.stream()],
    reach: (stage) => promptUntil(stage, isDelta),
    goOn: openGate,
  },
  {
    name: "tool running",
    active: true,
    replies: (model) => [useTool("bash", { command: WAIT }), ...model.next()],
    reach: (stage) => promptUntil(stage, event("tool_execution_start")),
    goOn: letGo,
  },
  {
    name: "dialog open",
    active: true,
    asks: "dialog",
    args: ["--approval-mode", "always"],
    replies: (model) => [useTool("bash", { command: "echo done" }), ...model.next()],
    reach: (stage) => promptUntil(stage, isQuestion),
    goOn: (stage) => answer(stage, isQuestion, { type: "extension_ui_response", value: "Approve" }),
  },
  {
    name: "host call open",
    active: true,
    asks: "host call",
    replies: (model) => [useTool("lent", {}), ...model.next()],
    async reach(stage) {
      await stage.rpc.call({ type: "set_host_tools", tools: [TOOL] });
      await promptUntil(stage, isHostCall);
    },
    goOn: (stage) =>
      answer(stage, isHostCall, { type: "host_tool_result", result: { content: [{ type: "text", text: "lent" }] } }),
  },
  {
    name: "retry wait",
    active: true,
    args: set("retry.baseDelayMs", 1000),
    replies: (model) => [fail(529, "overloaded_error", "Overloaded"), ...model.next()],
    reach: (stage) => promptUntil(stage, event("auto_retry_start")),
    goOn: () => undefined,
  },
  {
    name: "compacting",
    active: true,
    replies: (model) => [fail(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), model.head()],
    async reach(stage) {
      await promptUntil(stage, event("auto_compaction_start"));
      await until("the summary is asked for", () => stage.llm.requests.length > 2);
    },
    goOn: openGate,
  },
  {
    name: "bash command running",
    active: false,
    leaves: ({ message }) => at(message, "role") === "bashExecution" && at(message, "cancelled") === true,
    replies: (model) => model.next(),
    async reach({ rpc, since }) {
      rpc.send({ id: "shell", type: "bash", command: `echo begun; ${WAIT}` });
      await rpc.waitFor("bash_execution_update", { since });
    },
    async goOn(stage) {
      letGo(stage);
      await responseTo(stage, "shell");
      await promptOn(stage, "go");
    },
  },
  {
    name: "queue filled",
    active: true,
    replies: (model) => [model.stream()],
    async reach(stage) {
      await promptUntil(stage, isDelta);
      for (const id of ["s1", "s2"]) await promptOn(stage, id, { streamingBehavior: "steer" });
      for (const id of ["f1", "f2"]) await promptOn(stage, id, { streamingBehavior: "followUp" });
    },
    goOn: openGate,
  },
  {
    name: "job running",
    active: false,
    leaves: ({ customType }) => customType === "job-result",
    args: set("async.enabled", true),
    replies: (model) => [useTool("bash", { command: WAIT, async: true }), say("It runs."), ...model.next()],
    reach: (stage) => promptUntil(stage, event("prompt_result")),
    goOn: letGo,
  },
];
