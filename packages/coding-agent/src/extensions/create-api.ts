import { THINKING_LEVELS } from "../config/choices.ts";
import { plainJson } from "../lib/plain-json.ts";
import type { HookName } from "../session/ports.ts";
import type { ExtensionActions, RegisteredServer } from "./actions.ts";
import { contentOf, customMessageOf, isRecord } from "./answers.ts";
import type { EventBus } from "./event-bus.ts";
import type { CommandDefinition, Extension, FlagDefinition, Handler, ToolDefinition } from "./extension.ts";
import { askedBy } from "./guards/rejections.ts";
import { isHookName, NEVER } from "./hooks.ts";
import { toolProblem } from "./tools.ts";
import { type VirtualModel, virtualModelOf } from "./virtual-model.ts";

export interface ApiOptions {
  extension: Extension;
  /** Throws while the extensions are being loaded, and when this one is no longer the one that is loaded. */
  actions(): ExtensionActions;
  /** Undefined while the extensions are being loaded. */
  bound(): ExtensionActions | undefined;
  bus: EventBus;
  /** A hook has another handler. */
  onHandler(hook: HookName): void;
  /** False when the name belongs to another extension, which is told. */
  addTool(tool: ToolDefinition): boolean;
  /** This extension has none any more. */
  onLastHandler(hook: HookName): void;
  /** Providers that were registered while the extensions are being loaded; they are applied when all are there. */
  providers: { extensionPath: string; name: string; config?: unknown; virtual?: VirtualModel }[];
  /** Servers that were registered while the extensions are being loaded. */
  mcpServers: RegisteredServer[];
  flagValue(name: string): boolean | string | undefined;
  /** What is wrong with something that was registered. */
  problem(event: string, error: string): void;
  /** Told to the host, once for each key. */
  notice(key: string, text: string): void;
  /** What omp's extensions find on it beside that. */
  extras: object;
}

/** The one argument of an extension's factory. */
export function createApi(options: ApiOptions): object {
  const api: Record<string, unknown> = registration(options);
  api.events = options.bus;
  addActions(api, options);
  return Object.defineProperties(api, Object.getOwnPropertyDescriptors(options.extras));
}

/** Works from the beginning. What is wrong is told and left out: the rest of the extension still works. */
function registration(options: ApiOptions): Record<string, unknown> {
  const { extension, bound, problem } = options;
  const extensionPath = extension.source.path;
  return {
    on(name: unknown, handler: unknown) {
      if (typeof handler !== "function") throw new TypeError(`on("${String(name)}"): the handler must be a function`);
      if (typeof name === "string" && Object.hasOwn(NEVER, name)) {
        const text = `${extensionPath} listens to "${name}", which never happens here, because ${NEVER[name]}: that handler is never called`;
        options.notice(`on ${name} ${extensionPath}`, text);
        return nothing;
      }
      if (typeof name !== "string" || !isHookName(name)) {
        problem("on", `there is no event "${String(name)}": its handler is never called`);
        return nothing;
      }
      return listen(options, name, handler as Handler);
    },
    registerTool(given: unknown) {
      const wrong = toolProblem(given);
      if (wrong !== undefined) return problem("registerTool", wrong);
      const tool = given as ToolDefinition;
      if (options.addTool(tool)) bound()?.toolsChanged(tool.name);
    },
    registerCommand(name: unknown, given: unknown) {
      if (typeof name !== "string" || name === "" || /\s/.test(name))
        return problem("registerCommand", `a command needs a name without spaces, not "${String(name)}"`);
      if (!isRecord(given) || typeof given.handler !== "function")
        return problem("registerCommand", `the command "${name}" has no function handler`);
      extension.commands.set(name, given as unknown as CommandDefinition);
    },
    registerFlag(name: unknown, given: unknown) {
      if (typeof name !== "string" || !isRecord(given) || (given.type !== "boolean" && given.type !== "string"))
        return problem("registerFlag", `the flag "${String(name)}" must have the type "boolean" or "string"`);
      const before = extension.flags.get(name)?.type;
      if (before !== undefined && before !== given.type) {
        const twice = `The option --${name} is registered twice by ${extensionPath}, as ${before} and as ${given.type}`;
        options.notice(`flag ${name}`, `${twice}; it is read as the latter`);
      }
      extension.flags.set(name, given as unknown as FlagDefinition);
    },
    getFlag(name: string) {
      const flag = extension.flags.get(name);
      return flag ? (options.flagValue(name) ?? flag.default) : undefined;
    },
    registerProvider(given: unknown, settings?: unknown) {
      // An object that says all of it has its name in it.
      const [name, config] = isRecord(given) ? [given.id, given] : [given, settings];
      if (typeof name !== "string" || name === "" || !isRecord(config))
        return problem("registerProvider", `a provider needs a name and an object, not "${String(name)}"`);
      if (given === config && typeof config.getModels !== "function")
        return problem("registerProvider", `the provider "${name}" has no function getModels`);
      const actions = bound();
      if (actions) actions.registerProvider(name, config);
      else options.providers.push({ extensionPath, name, config });
    },
    unregisterProvider(name: string) {
      const actions = bound();
      if (actions) actions.unregisterProvider(name);
      else options.providers.push({ extensionPath, name });
    },
    // For terminals. What they would show is in the messages and entries that hosts get.
    registerShortcut: () => undefined,
    registerMessageRenderer: () => undefined,
    registerEntryRenderer: () => undefined,
    registerToolRenderer: () => undefined,
    registerMarkdownTransformer: () => undefined,
    registerVirtualModel(given: unknown) {
      const virtual = virtualModelOf(given);
      if ("problem" in virtual) return problem("registerVirtualModel", virtual.problem);
      const actions = bound();
      if (actions) actions.registerVirtualModel(virtual);
      else options.providers.push({ extensionPath, name: virtual.provider, virtual });
    },
    registerMcpServer(name: unknown, config: unknown) {
      if (typeof name !== "string" || name.trim() === "" || !isRecord(config))
        return problem("registerMcpServer", `a server needs a name and an object, not "${String(name)}"`);
      const server = { extensionPath, name, config: plainJson(config) };
      const actions = bound();
      if (actions) actions.registerMcpServer(server);
      else options.mcpServers.push(server);
    },
    unregisterMcpServer(name: string) {
      const actions = bound();
      if (actions) return actions.unregisterMcpServer(name);
      const { mcpServers } = options;
      mcpServers.splice(0, mcpServers.length, ...mcpServers.filter((server) => server.name !== name));
    },
    getMcpServers: () => bound()?.mcpServers() ?? [],
  };
}

const nothing = (): undefined => undefined;

/** Gives back what ends it. Lists are never changed: whoever is being told is told to the end of the list he has. */
function listen({ extension, onHandler, onLastHandler }: ApiOptions, name: HookName, handler: Handler): () => void {
  const { handlers } = extension;
  handlers.set(name, [...(handlers.get(name) ?? []), handler]);
  onHandler(name);
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    const listed = handlers.get(name) ?? [];
    const left = listed.toSpliced(listed.indexOf(handler), 1);
    handlers.set(name, left);
    if (left.length === 0) onLastHandler(name);
  };
}

/** What puts messages into the conversation. */
export function sending({ actions, problem }: Pick<ApiOptions, "actions" | "problem">) {
  /** Nobody waits for these, so what goes wrong is told. */
  const inBackground = (event: string, work: Promise<void>): Promise<void> =>
    work.catch((error: unknown) => problem(event, error instanceof Error ? error.message : String(error)));
  return {
    sendMessage(given: unknown, how: unknown) {
      const message = customMessageOf(given);
      if ("problem" in message) throw new TypeError(`sendMessage: ${message.problem}`);
      return inBackground("send_message", actions().sendMessage(message, isRecord(how) ? how : {}));
    },
    sendUserMessage(given: unknown, how: unknown) {
      const content = typeof given === "string" ? given : contentOf(given);
      if (content === undefined)
        throw new TypeError("sendUserMessage: content must be a text, or text and image blocks");
      return inBackground("send_user_message", actions().sendUserMessage(content, isRecord(how) ? how : {}));
    },
  };
}

/** One by one: an object that is put together from several takes ten times the memory, for each extension at each start. */
function addActions(api: Record<string, unknown>, options: ApiOptions): void {
  const { actions } = options;
  const { sendMessage, sendUserMessage } = sending(options);
  api.sendMessage = sendMessage;
  api.sendUserMessage = sendUserMessage;
  api.appendEntry = (customType: unknown, data?: unknown) => {
    if (typeof customType !== "string" || customType === "")
      throw new TypeError("appendEntry: customType must be a text");
    return actions().appendEntry(customType, data);
  };
  api.setSessionName = (name: unknown) => {
    if (typeof name !== "string") throw new TypeError("setSessionName: name must be a text");
    actions().setSessionName(name);
  };
  api.getSessionName = () => actions().sessionName();
  api.setLabel = (entryId: string, label?: string) => actions().setLabel(entryId, label);
  api.exec = (...call: Parameters<ExtensionActions["exec"]>) => actions().exec(...call);
  api.getActiveTools = () => actions().activeTools();
  api.getAllTools = () => actions().allTools();
  api.setActiveTools = (names: unknown) => {
    if (!Array.isArray(names)) throw new TypeError("setActiveTools: names must be a list of tool names");
    actions().setActiveTools(names.map(String));
  };
  api.getCommands = () => actions().commands();
  api.setModel = (model: unknown) => {
    const { setModel } = actions();
    if (!isRecord(model) || typeof model.provider !== "string" || typeof model.id !== "string")
      throw new TypeError("setModel: a model is an object with provider and id");
    const { provider, id } = model;
    return askedBy(options.extension.source.path, setModel({ provider, id }));
  };
  api.getThinkingLevel = () => actions().thinkingLevel();
  api.setThinkingLevel = (level: unknown) => {
    const known = level === "max" ? "xhigh" : THINKING_LEVELS.find((candidate) => candidate === level);
    if (!known) throw new TypeError(`setThinkingLevel: "${String(level)}" is no level: ${THINKING_LEVELS.join(", ")}`);
    actions().setThinkingLevel(known);
  };
  api.getSettings = (key?: string) => (key === undefined ? {} : actions().setting(key));
}
