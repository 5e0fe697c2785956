import { fileURLToPath } from "node:url";
import { at, brief, type Frame, isRecord, list } from "../support/frame.ts";
import { type MockLlm, type Reply, startMockLlm } from "../support/mock-llm.ts";
import { RpcProcess } from "../support/rpc-process.ts";
import { preparedFiles, programFolder } from "./surroundings.ts";

/** A host that drives the program with somebody else's extension in it, and the words in which checks are written. */

export interface HostOptions {
  /** What the script model says, one answer an item, in its one-line notation. */
  script?: readonly string[];
  /** What a model on loopback says instead; `requests` then has what it was asked. */
  replies?: readonly Reply[];
  args?: readonly string[];
  env?: Record<string, string>;
  /** Files in the working folder. */
  files?: Record<string, string>;
  agentFiles?: Record<string, string>;
  settings?: Record<string, unknown>;
  /** Written into the folder that comes first in PATH: stands in for programs that are not here. */
  programs?: Record<string, string>;
  /** Shell commands that make the working folder what the check needs, before the program starts. */
  prepare?: string;
  /** Done before the program starts; what it gives back is done when the check is over. */
  around?(): () => void;
  /** An address that the extension's own `fetch`, and the program, take for the model on loopback. */
  fetchedFrom?: string;
  /** What other addresses outside answer when the extension fetches them. */
  fetched?: Record<string, object>;
  /** An error of the extension that belongs to the check. */
  error?: Shows;
  /** Providers that the program knows, and the API family in which the model on loopback answers in their place. */
  insteadOf?: Record<string, string>;
}

export type Shows = string | RegExp;
const shows = (text: unknown, wanted: Shows): boolean =>
  typeof text === "string" && (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text));

/** The runtime itself may take seconds to end on a busy machine when an extension has WebAssembly in it. */
const ENDING_MS = 20_000;
const PATIENCE_MS = Number(process.env.COMPAT_PATIENCE_MS ?? 15_000);

export class Host {
  readonly rpc: RpcProcess;
  readonly mock: MockLlm | undefined;
  /** Frames before this have been dealt with. */
  private from = 0;

  constructor(rpc: RpcProcess, mock: MockLlm | undefined) {
    this.rpc = rpc;
    this.mock = mock;
  }

  get cwd(): string {
    return this.rpc.sandbox.cwd;
  }

  get agentDir(): string {
    return this.rpc.sandbox.agentDir;
  }

  async call(type: string, fields: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const answer = await this.rpc.call({ type, ...fields }, PATIENCE_MS);
    if (answer.success !== true) throw new Error(`${type} failed: ${brief(answer)}`);
    return isRecord(answer.data) ? answer.data : {};
  }

  /** Until the session has settled; resolves to what came on the way. */
  async prompt(message: string): Promise<Frame[]> {
    const { frames } = await this.rpc.prompt(message, {}, PATIENCE_MS);
    return frames;
  }

  /** Sends without waiting: whatever the extension asks in between is answered by the check. */
  send(type: string, fields: Record<string, unknown> = {}): void {
    this.rpc.send({ id: type, type, ...fields });
  }

  /** The next frame of its kind; what came before it will not be found again. */
  async next(what: string, wanted: (frame: Frame) => boolean): Promise<Frame> {
    try {
      const frame = await this.rpc.waitFor(wanted, { since: this.from, timeoutMs: PATIENCE_MS });
      this.from = this.rpc.frames.indexOf(frame) + 1;
      return frame;
    } catch (error) {
      throw new Error(`${what} did not come.\n${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** As `next`, but looks at all frames and leaves the place where it is. */
  async seen(what: string, wanted: (frame: Frame) => boolean): Promise<Frame> {
    const place = this.from;
    this.from = 0;
    try {
      return await this.next(what, wanted);
    } finally {
      this.from = place;
    }
  }

  ui(method: string, text: Shows): Promise<Frame> {
    const parts = ["message", "statusText", "title", "text"];
    return this.seen(`${method} with ${text}`, (frame) => {
      if (frame.type !== "extension_ui_request" || frame.method !== method) return false;
      const lines = list(frame.widgetLines).join("\n");
      return parts.some((part) => shows(frame[part], text)) || shows(lines, text);
    });
  }

  notify(text: Shows): Promise<Frame> {
    return this.ui("notify", text);
  }

  status(text: Shows): Promise<Frame> {
    return this.ui("setStatus", text);
  }

  widget(text: Shows): Promise<Frame> {
    return this.ui("setWidget", text);
  }

  notice(text: Shows): Promise<Frame> {
    return this.seen(`notice ${text}`, (frame) => frame.type === "notice" && shows(frame.message, text));
  }

  /** The program says by a notice that something needs a terminal, or the extension says so itself. */
  told(text: Shows): Promise<Frame> {
    return this.seen(`notice or notify ${text}`, (frame) => {
      if (frame.type === "notice") return shows(frame.message, text);
      return frame.type === "extension_ui_request" && frame.method === "notify" && shows(frame.message, text);
    });
  }

  /** Waits for a dialog and answers it: an option, a text, yes or no, null to cancel. */
  async answer(method: string, about: Shows, wanted: Shows | boolean | null): Promise<Frame> {
    const isIt = (frame: Frame): boolean =>
      frame.type === "extension_ui_request" && frame.method === method && shows(frame.title, about);
    const request = await this.next(`the dialog ${method} ${about}`, isIt);
    const value = wanted instanceof RegExp ? list(request.options).find((option) => shows(option, wanted)) : wanted;
    const given = typeof value === "boolean" ? { confirmed: value } : value === null ? { cancelled: true } : { value };
    this.rpc.send({ type: "extension_ui_response", id: request.id, ...given });
    return request;
  }

  /** The answer to what was sent with `send`. */
  async answered(type: string): Promise<Record<string, unknown>> {
    const answer = await this.next(`answer to ${type}`, (frame) => frame.type === "response" && frame.id === type);
    if (answer.success !== true) throw new Error(`${type} failed: ${brief(answer)}`);
    return isRecord(answer.data) ? answer.data : {};
  }

  /** The text of what a tool gave, the newest call first. */
  result(tool: string): { text: string; isError: boolean; details: unknown } {
    const ends = this.rpc.frames.filter((frame) => frame.type === "tool_execution_end" && frame.toolName === tool);
    const end = ends.at(-1);
    if (!end) throw new Error(`the tool ${tool} was not run: ${this.rpc.types().join(" ")}`);
    const parts = list(at(end, "result", "content")).map((part) => String(at(part, "text") ?? ""));
    return { text: parts.join("\n"), isError: end.isError === true, details: at(end, "result", "details") };
  }

  /** Everything that was sent to the model on loopback with its nth request, as text. */
  request(index: number): string {
    const seen = this.mock?.requests.at(index);
    if (!seen) throw new Error(`the model was asked ${this.mock?.requests.length ?? 0} times`);
    return JSON.stringify(seen.body);
  }

  /** The entries of the session. */
  async entries(): Promise<Record<string, unknown>[]> {
    return list((await this.call("get_entries")).entries).filter(isRecord);
  }

  async commandNames(): Promise<string[]> {
    return list((await this.call("get_commands")).commands).map((command) => String(at(command, "name")));
  }

  /** Errors of extensions so far. */
  errors(): string[] {
    return this.rpc.frames.filter((frame) => frame.type === "extension_error").map((frame) => brief(frame, 600));
  }
}

export interface Load {
  args?: readonly string[];
  settings?: Record<string, unknown>;
}

/** Runs `check` with the extension loaded; afterwards the process has ended, its stdout was legal, and nothing went wrong. */
export async function withExtension(
  load: Load,
  options: HostOptions,
  check: (host: Host) => Promise<void>,
): Promise<void> {
  const mock = options.replies && (await startMockLlm());
  mock?.reply(...(options.replies ?? []));
  const programs = programFolder(options.programs ?? {});
  const after = options.around?.();
  const host = new Host(startProcess(load, options, { mock, PATH: programs.path }), mock);
  try {
    await host.rpc.waitFor("ready", { timeoutMs: PATIENCE_MS });
    await check(host);
    await host.rpc.dispose(ENDING_MS);
    const { error } = options;
    const errors = host.errors().filter((text) => error === undefined || !shows(text, error));
    if (errors.length > 0) throw new Error(`an error of the extension:\n${errors.join("\n")}`);
  } finally {
    // After a failed check the state of the process is no news.
    await host.rpc.dispose().catch(() => undefined);
    await mock?.close();
    programs.remove();
    after?.();
  }
}

function startProcess(load: Load, options: HostOptions, around: { mock?: MockLlm; PATH: string }): RpcProcess {
  const { mock, PATH } = around;
  return new RpcProcess({
    script: mock ? undefined : (options.script ?? ['text "Well."']),
    args: [...(mock ? ["--model", "mock/mock-1"] : []), ...(load.args ?? []), ...(options.args ?? [])],
    env: { PATH, ...(mock && redirected(mock, options)), ...options.env },
    check: { runsWithoutPrompt: true, replacedMessages: true },
    // Some write into the folder of their host, which pi makes on the way.
    files: { ".pi/keep": "", ".tiller/keep": "", ...preparedFiles(options.prepare), ...options.files },
    agentFiles: {
      ...(mock && { "models.json": modelsFor(mock, options) }),
      "settings.json": JSON.stringify({ ...load.settings, ...options.settings }),
      ...options.agentFiles,
    },
  });
}

/** Calls of `fetch` for an address outside come to the mock instead. */
function redirected(mock: MockLlm, { fetchedFrom, fetched = {} }: HostOptions): Record<string, string> {
  if (fetchedFrom === undefined) return {};
  const preload = fileURLToPath(new URL("redirect-fetch.mjs", import.meta.url));
  return {
    NODE_OPTIONS: `--import=${preload}`,
    REDIRECT_FROM: fetchedFrom,
    REDIRECT_TO: mock.baseUrl,
    REDIRECT_ANSWERS: JSON.stringify(fetched),
  };
}

/** The models of the mock; with `insteadOf`, a provider that everybody knows is to be found there too. */
function modelsFor(mock: MockLlm, { insteadOf }: HostOptions): string {
  const models = JSON.parse(mock.modelsJson());
  for (const [provider, family] of Object.entries(insteadOf ?? {}))
    models.providers[provider] = { baseUrl: mock.baseUrlOf(family), apiKey: "mock-key" };
  return JSON.stringify(models);
}
