import type {
  ExtensionUIRequest,
  HostToolCall,
  HostToolDefinition,
  HostUriRequest,
  HostUriResult,
  HostUriScheme,
  ToolResult,
} from "@tiller/protocol/plain-types.generated";
import { messageOf } from "./errors.ts";
import type { ClientEvent, Frame } from "./events.ts";

/** What the agent asks its host: to run a tool, to read or write a URL, to ask a person. Here these are functions. */

export interface HostToolContext {
  toolCallId: string;
  /** Aborts when the agent no longer wants the result. */
  signal: AbortSignal;
  /** Tells how far it is: the result so far. */
  update(partial: string | ToolResult): void;
  /** The same, under the name that other clients have for it. */
  sendUpdate(partial: string | ToolResult): void;
}

export interface HostTool<Args = Record<string, unknown>> extends HostToolDefinition {
  /** A text, or a whole result; what it throws becomes a failure that the model reads. */
  execute(
    args: Args,
    context: HostToolContext,
  ): string | ToolOutcome | undefined | Promise<string | ToolOutcome | undefined>;
}

export interface ToolOutcome extends ToolResult {
  isError?: boolean;
}

export interface UriContext {
  signal: AbortSignal;
}

/** Resources of the host behind `scheme://` URLs. */
export interface HostUris extends HostUriScheme {
  read(url: string, context: UriContext): string | UriContent | Promise<string | UriContent>;
  write?(url: string, content: string, context: UriContext): undefined | string | Promise<undefined | string>;
}

export type UriContent = Pick<HostUriResult, "content" | "contentType" | "notes" | "immutable">;

export type Dialog = Extract<ExtensionUIRequest, { method: "select" | "confirm" | "input" | "editor" }>;

export interface DialogContext {
  /** Aborts when the dialog is withdrawn. */
  signal: AbortSignal;
}

/** A text for `select`, `input` and `editor`, a yes or no for `confirm`; undefined when the person does not want to answer. */
export type DialogAnswer = string | boolean | undefined;
export type AskPerson = (dialog: Dialog, context: DialogContext) => DialogAnswer | Promise<DialogAnswer>;

const DIALOGS: ReadonlySet<string> = new Set(["select", "confirm", "input", "editor"]);

export class HostSide {
  readonly #send: (frame: object) => void;
  readonly #tools = new Map<string, HostTool>();
  readonly #uris = new Map<string, HostUris>();
  readonly #open = new Map<string, AbortController>();
  /** Without it every dialog is answered with "nobody wants to answer". */
  ask: AskPerson | "manual" | undefined;

  constructor(send: (frame: object) => void) {
    this.#send = send;
  }

  setTools(tools: readonly HostTool[]): HostToolDefinition[] {
    this.#tools.clear();
    for (const tool of tools) this.#tools.set(tool.name.trim(), tool);
    return tools.map(({ execute: _, ...definition }) => definition);
  }

  setUris(uris: readonly HostUris[]): HostUriScheme[] {
    this.#uris.clear();
    for (const uri of uris) this.#uris.set(uri.scheme.toLowerCase(), uri);
    return uris.map(({ read: _, write: __, ...scheme }) => scheme);
  }

  /** True when the frame was for the host alone. */
  handle(frame: Frame): boolean {
    switch (frame.type) {
      case "host_tool_call":
        void this.#runTool(frame as unknown as HostToolCall);
        return true;
      case "host_uri_request":
        void this.#openUri(frame as unknown as HostUriRequest);
        return true;
      case "host_tool_cancel":
      case "host_uri_cancel":
        this.#cancel(String(frame.targetId));
        return true;
      case "extension_ui_request":
        this.#dialog(frame as unknown as ExtensionUIRequest);
        return false;
      default:
        return false;
    }
  }

  answerDialog(id: string, answer: DialogAnswer): void {
    const type = "extension_ui_response";
    if (answer === undefined) this.#send({ type, id, cancelled: true });
    else if (typeof answer === "boolean") this.#send({ type, id, confirmed: answer });
    else this.#send({ type, id, value: answer });
  }

  /** The agent is gone: nobody wants the results any more. */
  cancelAll(): void {
    for (const id of [...this.#open.keys()]) this.#cancel(id);
  }

  #cancel(id: string): void {
    this.#open.get(id)?.abort();
    this.#open.delete(id);
  }

  #dialog(request: ExtensionUIRequest): void {
    if (request.method === "cancel") this.#cancel(request.targetId);
    if (!isDialog(request) || this.ask === "manual") return;
    const { ask } = this;
    if (ask === undefined) {
      this.answerDialog(request.id, undefined);
      return;
    }
    void this.#while(request.id, async (signal) => {
      let answer: DialogAnswer;
      try {
        answer = await ask(request, { signal });
      } catch (error) {
        // A dialog that was withdrawn often ends like that. Otherwise its owner should know, and whoever asked must not wait.
        if (!signal.aborted) process.emitWarning(`onDialog failed: ${messageOf(error)}`);
      }
      if (!signal.aborted) this.answerDialog(request.id, answer);
    });
  }

  async #runTool({ id, toolCallId, toolName, arguments: args }: HostToolCall): Promise<void> {
    const tool = this.#tools.get(toolName);
    await this.#while(id, async (signal) => {
      const update = (partial: string | ToolResult): void => {
        if (!signal.aborted) this.#send({ type: "host_tool_update", id, partialResult: asResult(partial) });
      };
      const { isError, ...result } = tool
        ? await run(() => tool.execute(args, { toolCallId, signal, update, sendUpdate: update }))
        : failed(`Host tool "${toolName}" is not registered`);
      if (signal.aborted) return;
      const frame = { type: "host_tool_result", id };
      this.#answer({ ...frame, result, ...(isError && { isError }) }, (why) => {
        const { isError: _, ...told } = failed(`Host tool "${toolName}" answered with what cannot be sent: ${why}`);
        return { ...frame, result: told, isError: true };
      });
    });
  }

  async #openUri({ id, operation, url = "", content }: HostUriRequest): Promise<void> {
    const uris = this.#uris.get(url.slice(0, url.indexOf(":")).toLowerCase());
    await this.#while(id, async (signal) => {
      const result = await visit(uris, { operation, url, content: content ?? "", signal });
      if (signal.aborted) return;
      const frame = { type: "host_uri_result", id };
      this.#answer({ ...frame, ...result }, (why) => ({
        ...frame,
        isError: true,
        error: `What is behind ${url} cannot be sent: ${why}`,
      }));
    });
  }

  /** Whoever asked must not wait for ever because the answer is nothing that JSON can say. */
  #answer(frame: object, instead: (why: string) => object): void {
    try {
      this.#send(frame);
    } catch (error) {
      this.#send(instead(messageOf(error)));
    }
  }

  async #while(id: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    this.#open.set(id, controller);
    try {
      await work(controller.signal);
    } finally {
      if (this.#open.get(id) === controller) this.#open.delete(id);
    }
  }
}

export function isDialog(event: ClientEvent): event is Dialog {
  return event.type === "extension_ui_request" && DIALOGS.has(event.method);
}

async function run(execute: () => ReturnType<HostTool["execute"]>): Promise<ToolOutcome> {
  try {
    return asResult((await execute()) ?? "");
  } catch (error) {
    return failed(messageOf(error));
  }
}

function asResult(result: string | ToolOutcome): ToolOutcome {
  return typeof result === "string" ? { content: [{ type: "text", text: result }] } : result;
}

function failed(text: string): ToolOutcome {
  return { content: [{ type: "text", text }], isError: true };
}

async function visit(
  uris: HostUris | undefined,
  { operation, url, content, signal }: { operation: string; url: string; content: string; signal: AbortSignal },
): Promise<Partial<HostUriResult>> {
  try {
    if (uris === undefined) throw new Error(`The host has nothing behind ${url}`);
    if (operation !== "write") {
      const found = await uris.read(url, { signal });
      return typeof found === "string" ? { content: found } : found;
    }
    if (!uris.write) throw new Error(`${url} cannot be written`);
    const said = await uris.write(url, content, { signal });
    return said === undefined ? {} : { content: said };
  } catch (error) {
    return { isError: true, error: messageOf(error) };
  }
}
