import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "@tiller/ai/http/test-certificate";
import { at, type Frame } from "../support/frame.ts";
import { type MockLlm, type Reply, type ReplyStep, say, startMockLlm } from "../support/mock-llm.ts";
import { RpcProcess } from "../support/rpc-process.ts";
import type { Fault } from "./fault.ts";
import type { State } from "./states.ts";

/** Where one fault meets one state: a model on loopback and the real process, with what both need to be told. */

export interface Stage {
  rpc: RpcProcess;
  llm: MockLlm;
  /** A folder for whatever a fault needs. */
  props: string;
  /** The session file. */
  path: string;
  /** What a second process needs to come to the same model. */
  env: Record<string, string>;
  /** Lets the model go on. */
  open(): void;
  /** Prompts that were accepted, by id. */
  prompts: string[];
  /** Frames of the state begin here. */
  since: number;
  /** A message that the fault has taken out of the file. */
  lost?: unknown;
  /** What could be seen only while the fault lasted was seen. */
  wasSeen?: boolean;
  dispose(): Promise<void>;
}

/** How the model answers in a state, and afterwards. A fault of the provider changes it. */
export interface Model {
  /** Nothing comes until the stage opens. */
  head(): Reply;
  /** The beginning of an answer, and the rest when the stage opens. */
  stream(): Reply;
  /** For states in which no answer is awaited: the one that comes next, if it is out of the ordinary. */
  next(): Reply[];
}

/** Long enough to be worth a summary, also a long one. */
const FIRST_ANSWER = "Much was said. ".repeat(2000);
/** Byte by byte it takes a while to be read. */
const FIRST_MS = 60_000;
const BEGUN: ReplyStep = { type: "text", text: "on and" };
const ARGS = ["--model", "mock/mock-1", "--set", "retry.baseDelayMs=30", "--set", "compaction.keepRecentTokens=1"];

export async function openStage(state: State, fault: Fault): Promise<Stage> {
  const props = mkdtempSync(join(tmpdir(), "tiller-fault-"));
  const authority = fault.overTls ? makeCertificate("the authority of a test") : undefined;
  const certificate = authority && makeCertificate("127.0.0.1", { hosts: ["127.0.0.1"], issuer: authority });
  const env: Record<string, string> = authority ? { TILLER_CA_FILE: join(props, "ca.pem") } : {};
  if (authority) writeFileSync(join(props, "ca.pem"), authority.cert);
  const llm = await startMockLlm({ certificate, otherwise: say("ok") });
  const { gate, open } = createGate();
  llm.reply(...(state.isFirst ? [] : [say(FIRST_ANSWER)]), ...state.replies(modelOf(fault, gate)));
  const rpc = new RpcProcess({
    args: [...ARGS, ...(state.args ?? []), ...(fault.args ?? [])],
    agentFiles: { "models.json": llm.modelsJson() },
    env: { ...env, ...fault.env?.(props) },
    cli: fault.cli?.(props),
    check: fault.check,
  });
  const stage: Stage = {
    rpc,
    llm,
    props,
    path: "",
    env,
    open,
    prompts: [],
    since: 0,
    dispose: () => dispose(stage, fault),
  };
  fault.prepare?.(stage);
  return stage;
}

/** It answers, if the state is not the first of all, one prompt. */
export async function begin(stage: Stage, { isFirst }: State): Promise<void> {
  const { rpc } = stage;
  if (!isFirst) await rpc.prompt("first", {}, FIRST_MS);
  stage.path = String(at((await rpc.call({ type: "get_state" })).data, "sessionFile"));
  stage.since = rpc.mark();
}

/** Another process of the same host that opens the session. */
export const reopen = ({ rpc, env, path }: Stage): RpcProcess =>
  new RpcProcess({ env: { ...env, TILLER_DIR: rpc.sandbox.agentDir }, args: [...ARGS, "--session", path] });

export const responseTo = ({ rpc, since }: Stage, id: string): Promise<Frame> =>
  rpc.waitFor((frame) => frame.type === "response" && frame.id === id, { since });

/** Sends a prompt that must be accepted. */
export async function promptOn(stage: Stage, id: string, fields: Record<string, unknown> = {}): Promise<void> {
  stage.prompts.push(id);
  stage.rpc.send({ id, type: "prompt", message: id, ...fields });
  const { success, error } = await responseTo(stage, id);
  if (success !== true) throw new Error(`the prompt "${id}" was refused: ${error}`);
}

/** Says something to those who look for this file among the props: they never see half of it. */
export function post({ props }: Stage, name: string, text: string): void {
  writeFileSync(join(props, `${name}.new`), text);
  renameSync(join(props, `${name}.new`), join(props, name));
}

/** What the system says of the process; empty when it is gone. */
export function procText(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

/** Until it holds, or ten seconds have passed. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (holds()) return;
    await pause(10);
  }
  throw new Error(`waited 10 s until ${what}`);
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function dispose(stage: Stage, fault: Fault): Promise<void> {
  const { rpc, llm, props, open } = stage;
  open();
  await llm.close();
  fault.clear?.(stage);
  try {
    await rpc.dispose();
  } finally {
    rmSync(props, { recursive: true, force: true });
  }
}

function createGate(): { gate: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { gate, open };
}

function modelOf({ broken }: Fault, gate: Promise<void>): Model {
  const rest = broken ?? ((begun: ReplyStep[]): Reply => ({ steps: [...begun, { type: "text", text: " on" }] }));
  return {
    head: () => ({ ...rest([]), delayHead: gate }),
    stream: () => rest([BEGUN, { type: "until", promise: gate }]),
    next: () => (broken ? [broken([])] : []),
  };
}
