import type { Clock } from "@tiller/protocol/clock";
import type { HookEvent, HookName, HookResult, SessionHooks } from "../session/ports.ts";
import type { ExtensionActions } from "./actions.ts";
import { type Call, callExtension, newCall } from "./call.ts";
import { calledCommand } from "./commands.ts";
import { type ContextOptions, contextFor, createCommandContext, createContext, inherit } from "./context.ts";
import { createApi, sending } from "./create-api.ts";
import type { Extension, ExtensionError } from "./extension.ts";
import { forHandlers } from "./for-handlers.ts";
import { createGeneration, type Generation } from "./generation.ts";
import { HOOKS } from "./hooks.ts";
import type { ExtensionSource } from "./loading/find-extensions.ts";
import type { LoadedFactory } from "./loading/load-factories.ts";
import { createLoadingGate } from "./loading-gate.ts";
import { NOT_YET, STALE } from "./messages.ts";
import { createRunner, type Runner } from "./runner.ts";
import { createSessionHooks } from "./session-hooks.ts";

export interface ExtensionHostOptions {
  /** Reads and evaluates the modules; called again for each session that is entered, and to look for them anew. */
  load(isReload: boolean): Promise<LoadedFactory<ExtensionSource>[]>;
  /** How long a factory may take. */
  limitMs: number;
  /** How long a handler may take, if that is less than what holds for its hook; 0: that. */
  hookLimitMs: number;
  clock: Clock;
  enter(label: string): () => void;
  report(error: ExtensionError): void;
  /** Told to the host, once for each key. */
  notice(key: string, text: string): void;
  theme: object;
  /** What omp's extensions find on the API object. */
  extras(source: ExtensionSource): object;
  flagValue(name: string): boolean | string | undefined;
  /** The extensions of a session are there, and have said where more texts lie. */
  onStarted(resources: HookResult<"resources_discover">): void;
  /** The extensions of the session that was left are gone, and what they have brought with them. */
  onEnded(): void;
  /** Providers that were registered while the extensions were being loaded. */
  onProviders(providers: Generation["providers"]): void;
}

export interface ExtensionHost {
  readonly hooks: SessionHooks;
  readonly generation: Generation;
  /** What they can do from now on. */
  bind(actions: ExtensionActions): void;
  /** The first session begins for them; or, when others are to be loaded now, for all that there are then. */
  begin(readAgain?: boolean): void;
  /** The session has begun for all of them. Never rejects. */
  started(): Promise<void>;
  command(text: string): { name: string; run(): Promise<void> } | undefined;
  /** Reads everything again and begins anew in the same session; `loaded` is called in between. */
  reload(loaded: () => void): Promise<void>;
  context(extension: Extension, call: Call): object;
}

/** Nobody may miss these because a session has not begun yet. */
const TOLD_LATER: ReadonlySet<HookName> = new Set(["model_select", "thinking_level_select", "mcp_servers_change"]);

/** How long a session that is left waits for those who have not yet heard what happened in it. */
const HEARD_WITHIN_MS = 500;

/** Owns the extensions that are loaded, and what they are told. */
export async function createExtensionHost(options: ExtensionHostOptions): Promise<ExtensionHost> {
  const { clock, enter, report } = options;
  let actions: ExtensionActions | undefined;
  let started: Promise<void> = Promise.resolve();

  const actionsFor = (extension: Extension) => (): ExtensionActions => {
    if (!extension.isAlive) throw new Error(STALE);
    if (!actions || !isBound.has(extension)) throw new Error(NOT_YET);
    return actions;
  };
  const generate = async (isReload: boolean): Promise<Generation> =>
    createGeneration({
      ...options,
      loaded: await options.load(isReload),
      api: (extension, parts) =>
        createApi({
          ...parts,
          extension,
          actions: actionsFor(extension),
          bound: () => (extension.isAlive && isBound.has(extension) ? actions : undefined),
          flagValue: options.flagValue,
          problem: (event, error) => report({ extensionPath: extension.source.path, event, error }),
          notice: options.notice,
          extras: options.extras(extension.source),
        }),
    });
  /** Those whose factories are through, and whose providers have been applied. */
  const isBound = new WeakSet<Extension>();
  let generation = await generate(false);

  const contexts = new WeakMap<Extension, { base: object; forCommands(): object }>();
  const contextsOf = (extension: Extension): { base: object; forCommands(): object } => {
    const known = contexts.get(extension);
    if (known) return known;
    const about: ContextOptions = {
      extension,
      theme: options.theme,
      notice: options.notice,
      actions: actionsFor(extension),
      now: clock.now,
      problem: (event, error) => report({ extensionPath: extension.source.path, event, error }),
      onPrompt: (when, dialog) => void tellPrompt(extension, `ui_prompt_${when}`, dialog),
      successor: () => successorOf(extension),
    };
    const base = createContext(about);
    let command: object | undefined;
    const forCommands = (): object => {
      command ??= createCommandContext(about, base);
      return command;
    };
    const made = { base, forCommands };
    contexts.set(extension, made);
    return made;
  };
  /** The same extension as it is loaded now, with what its own `pi` cannot do for it any more. */
  const successorOf = ({ source }: Extension): object => {
    const next = generation.extensions.find((candidate) => candidate.source.path === source.path);
    const act = (): ExtensionActions => {
      if (!actions) throw new Error(NOT_YET);
      return actions;
    };
    const problem = (event: string, error: string) => report({ extensionPath: source.path, event, error });
    return inherit(next ? context(next, newCall(undefined, true)) : {}, sending({ actions: act, problem }));
  };
  const context = (extension: Extension, call: Call): object => {
    const { base, forCommands } = contextsOf(extension);
    return contextFor(call.isCommand ? forCommands() : base, call);
  };

  const asking = createRunner({
    extensions: () => generation.extensions,
    heard: () => generation.heard,
    context,
    report,
    clock,
    longestMs: options.hookLimitMs,
    enter,
  });
  const runner: Runner = {
    listens: asking.listens,
    run(...asked) {
      const over = generation.use();
      return asking.run(...asked).finally(over);
    },
  };
  const gate = createLoadingGate(runner);
  const tell = async <K extends HookName>(hook: K, event: Parameters<typeof runner.run<K>>[1]): Promise<void> => {
    if (runner.listens(hook)) await runner.run(hook, event);
  };
  /** Who asks something when he hears that somebody is asked: nobody hears of it, or it would never end. */
  const prompts = { beingTold: 0, told: new Set<string>() };
  const tellPrompt = async (
    { handlers }: Extension,
    hook: "ui_prompt_start" | "ui_prompt_end",
    dialog: { id: string; method: string },
  ): Promise<void> => {
    const isOwnEcho = prompts.beingTold > 0 && (handlers.has("ui_prompt_start") || handlers.has("ui_prompt_end"));
    if (hook === "ui_prompt_start" ? isOwnEcho : !prompts.told.delete(dialog.id)) return;
    if (hook === "ui_prompt_start") prompts.told.add(dialog.id);
    prompts.beingTold += 1;
    try {
      await tell(hook, { ...dialog });
    } finally {
      prompts.beingTold -= 1;
    }
  };
  /** Between two sessions, and before the first, nobody is there to hear of a choice: it is told when one has begun. */
  let hasBegun = false;
  const untold: (() => Promise<void>)[] = [];
  const tellLater = <K extends HookName>(hook: K, event: HookEvent<K>): boolean => {
    if (hasBegun || !TOLD_LATER.has(hook)) return false;
    untold.push(() => tell(hook, forHandlers(hook, event)));
    return true;
  };
  const start = async (
    reason: "startup" | "reload" | "new" | "resume" | "fork",
    previousSessionFile?: string,
  ): Promise<void> => {
    const about = { reason, ...(previousSessionFile !== undefined && { previousSessionFile }) };
    await tell("session_start", { ...about });
    if (reason === "new" || reason === "resume") await tell("session_switch", { ...about });
    if (reason === "fork") await tell("session_branch", { previousSessionFile });
    hasBegun = true;
    for (const tellNow of untold.splice(0)) await tellNow();
    const event = {
      cwd: actions?.cwd() ?? "",
      reason: reason === "reload" ? ("reload" as const) : ("startup" as const),
    };
    options.onStarted(await runner.run("resources_discover", event));
  };
  const settleProviders = (): void => {
    for (const extension of generation.extensions) isBound.add(extension);
    options.onProviders(generation.providers);
    actions?.renewMcpServers(generation.mcpServers.splice(0));
  };
  /** One after the other: of two at once the first would be forgotten and live on. */
  let renewing: Promise<void> = Promise.resolve();
  const inTurn = (renew: () => Promise<void>): Promise<void> => {
    const renewed = renewing.then(renew);
    renewing = renewed.catch(() => undefined);
    return renewed;
  };
  /** The session that they belonged to is gone: they go first. */
  const replace = async (readAgain = false): Promise<void> => {
    generation.end();
    options.onEnded();
    hasBegun = false;
    generation = await generate(readAgain);
    settleProviders();
  };
  /** The session goes on: those who are still at work go last, and what they were asked they still answer. */
  const exchange = async (): Promise<void> => {
    hasBegun = false;
    await tell("session_shutdown", { reason: "reload" });
    const next = await generate(true);
    const before = generation;
    options.onEnded();
    generation = next;
    settleProviders();
    before.retire();
  };

  /** Another value in each session. */
  let session = {};
  const told = createSessionHooks(
    gate.runner,
    () => clock.now(),
    () => session,
    () => actions?.entries,
  );
  /** All have heard what was told until now; but nobody waits for ever for one who does not listen. */
  const heardSoon = async (): Promise<void> => {
    let cancel = (): void => undefined;
    const patience = new Promise<void>((resolve) => {
      cancel = clock.after(HEARD_WITHIN_MS, resolve);
    });
    await Promise.race([told.settled(), patience]);
    cancel();
  };

  const hooks: SessionHooks = {
    ...told,
    run: async (hook, event, signal) =>
      tellLater(hook, event) ? HOOKS[hook].nothing(event) : gate.runner.run(hook, forHandlers(hook, event), signal),
    async leave(reason, targetSessionFile) {
      await heardSoon();
      session = {};
      const target = targetSessionFile === undefined ? {} : { targetSessionFile };
      await tell("session_shutdown", { reason, ...target });
      hasBegun = false;
    },
    entered: (reason, previous) =>
      inTurn(async () => {
        session = {};
        await gate.closedDuring(() => replace());
        await start(reason, previous);
      }),
  };

  return {
    hooks,
    get generation() {
      return generation;
    },
    bind(given) {
      actions = given;
      settleProviders();
    },
    begin(readAgain = false) {
      const again = (): Promise<void> => gate.closedDuring(() => replace(true));
      started = readAgain ? inTurn(again).then(() => start("startup")) : start("startup");
    },
    started: () => started,
    command(text) {
      const called = calledCommand(text, generation.commands());
      if (!called) return undefined;
      const { name } = called.command;
      return {
        name,
        async run() {
          // Another session may have been entered since, with the extension loaded anew.
          const { command, args } = calledCommand(text, generation.commands()) ?? called;
          const { extension, definition } = command;
          const what = `command ${name}`;
          // A command may take as long as it likes: it may be waiting for a person, or for the model.
          const call = newCall(undefined, true);
          const how = { extension, call, what, limitMs: Number.POSITIVE_INFINITY, clock, enter };
          const done = await callExtension(() => definition.handler(args, context(extension, call)), how);
          if ("error" in done) report({ extensionPath: `command:${name}`, event: "command", error: done.error });
        },
      };
    },
    reload: (loaded) =>
      inTurn(async () => {
        await heardSoon();
        await gate.closedDuring(exchange);
        loaded();
        await start("reload");
      }),
    context,
  };
}
