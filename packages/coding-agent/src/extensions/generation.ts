import type { Clock } from "@tiller/protocol/clock";
import type { HookName } from "../session/ports.ts";
import { callExtension } from "./call.ts";
import { commandsOf, type ExtensionCommand } from "./commands.ts";
import type { ApiOptions } from "./create-api.ts";
import { createEventBus } from "./event-bus.ts";
import {
  type Extension,
  type ExtensionError,
  type FlagDefinition,
  newExtension,
  type ToolDefinition,
} from "./extension.ts";
import { errorText } from "./guards/rejections.ts";
import type { ExtensionSource } from "./loading/find-extensions.ts";
import type { LoadedFactory } from "./loading/load-factories.ts";

/** The extensions of one session: each factory was called once. Another session, or a reload, is another generation. */
export interface Generation {
  readonly extensions: readonly Extension[];
  /** The hooks that have a handler. */
  readonly heard: ReadonlySet<HookName>;
  readonly providers: ApiOptions["providers"];
  readonly mcpServers: ApiOptions["mcpServers"];
  commands(): ExtensionCommand[];
  /** By name; of the same name the first counts. */
  tools(): Map<string, { extension: Extension; definition: ToolDefinition }>;
  flags(): Map<string, FlagDefinition>;
  /** It is asked something, or one of its tools is at work; the function that it gives back says that this is over. */
  use(): () => void;
  /** Its objects are of no use from now on. */
  end(): void;
  /** The same as soon as nothing of it is in use any more: it ends what it has begun. */
  retire(): void;
}

export interface GenerationOptions {
  loaded: readonly LoadedFactory<ExtensionSource>[];
  limitMs: number;
  clock: Clock;
  enter(label: string): () => void;
  report(error: ExtensionError): void;
  /** Told to the host, once for each key. */
  notice(key: string, text: string): void;
  /** The object that the factory gets. */
  api(
    extension: Extension,
    parts: Pick<ApiOptions, "bus" | "onHandler" | "onLastHandler" | "providers" | "mcpServers" | "addTool">,
  ): object;
}

/** Calls the factories in parallel; what they register counts in the order of the extensions. */
export async function createGeneration(options: GenerationOptions): Promise<Generation> {
  const { loaded, limitMs, clock, enter, report } = options;
  const heard = new Set<HookName>();
  const providers: ApiOptions["providers"] = [];
  const mcpServers: ApiOptions["mcpServers"] = [];
  const hub = createEventBus({
    enter,
    onError: ({ extensionPath, channel, error }) =>
      report({ extensionPath, event: `events: ${channel}`, error: errorText(error) }),
  });
  const begun: Extension[] = [];
  const onHandler = (hook: HookName): void => void heard.add(hook);
  const onLastHandler = (hook: HookName): void => {
    if (!begun.some(({ handlers }) => handlers.get(hook)?.length)) heard.delete(hook);
  };
  /** Those that count, once all factories are through: from then on a name belongs to whoever has it. */
  let settled: readonly Extension[] = [];
  const addTool = (extension: Extension, tool: ToolDefinition): boolean => {
    const owner = settled.find((other) => other !== extension && other.tools.has(tool.name));
    if (owner) report(doubleTool(tool.name, extension, owner));
    else extension.tools.set(tool.name, tool);
    return owner === undefined;
  };

  const make = async (candidate: LoadedFactory<ExtensionSource>): Promise<Extension | undefined> => {
    const { source } = candidate;
    if ("error" in candidate) {
      report({ extensionPath: source.path, event: "load", error: candidate.error });
      return undefined;
    }
    const extension = newExtension(source);
    begun.push(extension);
    const bus = hub.forExtension(source.path);
    const api = options.api(extension, {
      bus,
      onHandler,
      onLastHandler,
      providers,
      mcpServers,
      addTool: (tool) => addTool(extension, tool),
    });
    const call = { extension, what: "the factory", limitMs, clock, enter };
    const called = await callExtension(() => candidate.factory(api as never), call);
    if (!("error" in called)) return extension;
    report({ extensionPath: source.path, event: "load", error: `Failed to load extension: ${called.error}` });
    extension.end();
    // What it had registered until then goes with it.
    hub.forget(source.path);
    for (const registered of [providers, mcpServers]) {
      for (let at = registered.length - 1; at >= 0; at--) {
        if (registered[at]?.extensionPath === source.path) registered.splice(at, 1);
      }
    }
    return undefined;
  };
  const made = await Promise.all(loaded.map(make));
  const extensions = made.filter((extension) => extension !== undefined);
  leaveOutDoubles(extensions, report);
  tellDoubleFlags(extensions, options.notice);
  settled = extensions;
  let uses = 0;
  let isRetired = false;
  const end = (): void => {
    hub.clear();
    for (const extension of extensions) extension.end();
  };

  return {
    extensions,
    heard,
    providers,
    mcpServers,
    commands: () => commandsOf(extensions),
    tools: () => firstOfEach(extensions),
    flags: () => new Map(extensions.flatMap(({ flags }) => [...flags])),
    use() {
      uses += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        uses -= 1;
        if (isRetired && uses === 0) end();
      };
    },
    end,
    retire() {
      isRetired = true;
      if (uses === 0) end();
    },
  };
}

function firstOfEach(extensions: readonly Extension[]): ReturnType<Generation["tools"]> {
  const tools: ReturnType<Generation["tools"]> = new Map();
  for (const extension of extensions) {
    for (const [name, definition] of extension.tools) if (!tools.has(name)) tools.set(name, { extension, definition });
  }
  return tools;
}

/** Two tools of one name: the model could not tell them apart. */
function leaveOutDoubles(extensions: readonly Extension[], report: (error: ExtensionError) => void): void {
  const first = firstOfEach(extensions);
  for (const extension of extensions) {
    for (const name of extension.tools.keys()) {
      const owner = first.get(name)?.extension;
      if (!owner || owner === extension) continue;
      report(doubleTool(name, extension, owner));
      extension.tools.delete(name);
    }
  }
}

/** The command line has one option of a name: who reads it as another type than it has gets what it does not expect. */
function tellDoubleFlags(extensions: readonly Extension[], notice: GenerationOptions["notice"]): void {
  const before = new Map<string, { type: FlagDefinition["type"]; path: string }>();
  for (const { flags, source } of extensions) {
    for (const [name, { type }] of flags) {
      const other = before.get(name);
      if (other && other.type !== type) {
        const both = `${other.path} (${other.type}) and ${source.path} (${type})`;
        notice(`flag ${name}`, `The option --${name} is registered by ${both}; it is read as the latter wants it`);
      }
      before.set(name, { type, path: source.path });
    }
  }
}

function doubleTool(name: string, extension: Extension, owner: Extension): ExtensionError {
  const error = `there is already a tool "${name}", of ${owner.source.path}: this one is left out`;
  return { extensionPath: extension.source.path, event: "registerTool", error };
}
