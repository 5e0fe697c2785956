import { orAborted } from "@tiller/agent/tell";
import type { AgentMessage } from "@tiller/protocol/message";
import { type ActionParts, createExtensionActions, type PendingSetup } from "./extension-actions.ts";
import { errorText } from "./extensions/guards/rejections.ts";
import { withSections } from "./extensions/prompt-sections.ts";
import type { Ground } from "./ground.ts";
import { sleep } from "./lib/clock.ts";
import { copied } from "./lib/copies.ts";
import type { LoadedExtensions } from "./load-extensions.ts";
import { type CommandItem, commandItems } from "./prompts/command-list.ts";
import type { Resources } from "./resources.ts";
import type { Machinery } from "./run-machinery.ts";
import type { ExtensionLogins, ExtensionHost as Host, SessionExtensions, SessionHooks } from "./session/ports.ts";
import type { Opening, SessionRunOptions } from "./session/run-options.ts";
import { textOf } from "./session/session-queue.ts";
import type { Toolbox } from "./toolbox.ts";

type JoinParts = Omit<
  ActionParts,
  | "host"
  | "systemPrompt"
  | "systemPromptOptions"
  | "expand"
  | "commands"
  | "nextTurn"
  | "modelRegistry"
  | "providers"
  | "virtualModels"
  | "reload"
> & {
  resources(): Promise<Resources>;
  machinery(): Promise<Machinery>;
};

/** The extensions, joined to a session. */
export interface JoinedExtensions {
  session: SessionExtensions;
  hooks: SessionHooks;
  open: NonNullable<SessionRunOptions["open"]>;
  /** Their session has begun: what comes in may be worked on. */
  started(): Promise<void>;
  /** The same for those who cannot wait for long: an extension may be waiting for a person. */
  startedSoon(): Promise<void>;
  commandItems(): CommandItem[];
}

export function joinExtensions(parts: JoinParts): JoinedExtensions {
  const { ground, extensions, store, models, pipeline, clock } = parts;
  const { host } = extensions;
  const nextTurn: AgentMessage[] = [];
  const pending: PendingSetup = { run: undefined };
  let bound: Host | undefined;
  let resources: Resources | undefined;
  /** What handlers have made of the system prompt so far, for the run that goes on. */
  let asked: { systemPrompt: string } | undefined;
  let machine: Machinery | undefined;

  const items = (): CommandItem[] => host.generation.commands().map(commandItem);
  const lookAgain = async (): Promise<void> => {
    resources = await parts.resources();
    machine = await parts.machinery();
  };
  /** Whoever needs the texts asks for them again, and fails then. */
  const tellFailure = (error: unknown): void => {
    const message = `What the system prompt is made of could not be read: ${errorText(error)}`;
    void pipeline.emit({ type: "notice", level: "warning", source: "extensions", message });
  };
  const systemPrompt = (): string => {
    if (asked && parts.run.isStreaming) return asked.systemPrompt;
    return machine && models.model ? machine.systemPrompt() : "";
  };
  host.bind(
    createExtensionActions(
      {
        ...parts,
        nextTurn,
        host: () => bound,
        systemPrompt,
        reload: () => reload(),
        systemPromptOptions: () => promptOptions(resources, machine && models.model ? machine.tools() : [], store.cwd),
        expand: async (text) => (await parts.resources()).expand(text),
        providers: extensions.models.providers,
        virtualModels: extensions.models.virtualModels,
        modelRegistry: extensions.models.registry,
        commands: () =>
          copied(
            commandItems({
              extensions: items(),
              templates: resources?.templates ?? [],
              skills: offered(ground, resources),
            }),
          ),
      },
      pending,
    ),
  );
  extensions.models.use(models);

  /** Whoever fills a new session is waited for like any handler: nobody else could go on in it. */
  const withinLimit = async (setup: Promise<void>): Promise<void> => {
    const limitMs = ground.settings.get("extensionLimits.hookMs") || LONGEST_SETUP_MS;
    const timer = new AbortController();
    const tooLong = sleep(clock, limitMs, timer.signal).then(() => {
      if (!timer.signal.aborted)
        throw new Error(`the setup of a new session did not finish within ${limitMs / 1000} s`);
    });
    try {
      await Promise.race([setup, tooLong]);
    } finally {
      timer.abort();
    }
  };

  let started: Promise<void> = Promise.resolve();
  /** Another session than the first: it has begun by itself. */
  let isEntered = false;
  const hooks: SessionHooks = {
    ...host.hooks,
    async leave(...how) {
      nextTurn.length = 0;
      await host.hooks.leave(...how);
      // Whoever chose other tools begins anew as well, and does not know of it any more.
      if (how[0] !== "quit") parts.toolbox.active.set(undefined);
    },
    async entered(...how) {
      isEntered = true;
      const setup = pending.run;
      pending.run = undefined;
      // Whatever becomes of it, the session has been entered.
      const filled = setup ? orAborted(withinLimit(setup()), parts.session().patience) : Promise.resolve();
      const begun = filled
        .catch(() => undefined)
        .then(async () => {
          await host.hooks.entered(...how);
        });
      started = begun.catch(tellFailure);
      // A handler that never comes back must not keep the host: an abort lets it go on, and prompts wait by themselves.
      await orAborted(begun, parts.session().patience);
      // Whoever wanted it filled hears what went wrong.
      await filled;
    },
  };

  /** Everything anew in the same session. What comes in waits for it, as it does when another one is entered. */
  const reload = async (): Promise<void> => {
    const before = host.generation.tools();
    const offerNew = (): void => {
      for (const name of host.generation.tools().keys()) if (!before.has(name)) parts.toolbox.active.add(name);
    };
    const begun = host.reload(offerNew).then(lookAgain);
    started = begun.catch(tellFailure);
    await orAborted(begun, parts.session().patience);
  };

  const open: JoinedExtensions["open"] = async (message, ports, signal): Promise<Opening> => {
    const waiting = nextTurn.splice(0);
    const messages = [message, ...waiting];
    asked = undefined;
    if (message.role !== "user" || !hooks.listens("before_agent_start")) return { messages };
    const tools = await ports.tools();
    const systemPrompt = ports.systemPrompt(tools);
    const event = {
      prompt: textOf(message),
      images:
        typeof message.content === "string"
          ? undefined
          : message.content.flatMap((block) => (block.type === "image" ? [{ ...block }] : [])),
      systemPrompt,
      systemPromptOptions: promptOptions(resources, tools, store.cwd),
    };
    asked = event;
    const opened = await hooks.run("before_agent_start", event, signal);
    const added = opened.messages.map((untimed) => ({ ...untimed, timestamp: clock.now() }));
    const changed = withSections(opened.systemPrompt, event.systemPromptOptions.sections);
    event.systemPrompt = changed;
    return { messages: [...messages, ...added], ...(changed !== systemPrompt && { systemPrompt: changed }) };
  };

  const session: SessionExtensions = {
    begin(given) {
      bound = given;
      extensions.listen((event) => void pipeline.emit(event));
      extensions.onExit((code) => given.shutdown(code));
      const begin = async (readAgain: boolean): Promise<void> => {
        const { leftOut } = extensions.found;
        if (leftOut.length > 0 && !readAgain) void pipeline.emit(untrusted(leftOut));
        if (isEntered) return readAgain ? reload() : undefined;
        host.begin(readAgain);
        await host.started();
      };
      const asked = askForTrust(parts);
      started = (asked ? asked.then(begin) : begin(false)).catch(tellFailure);
    },
    command: (text) => host.command(text),
    takeError: extensions.takeError,
    logins: loginsOf(ground, extensions),
  };
  /** What they may ask for without waiting is there, too: looked up for who wants to work, not for who only starts. */
  const ready = (): Promise<void> => started.then(lookAgain);
  const startedSoon = async (): Promise<void> => {
    const timer = new AbortController();
    await Promise.race([ready(), sleep(clock, SOON_MS, timer.signal)]);
    timer.abort();
  };
  return { session, hooks, open, started: ready, startedSoon, commandItems: items };
}

function loginsOf({ models: { registry } }: Ground, { models: { providers } }: LoadedExtensions): ExtensionLogins {
  return {
    list: () =>
      providers.logins().map(({ id, name }) => ({ id, name, authenticated: registry.loginOf(id) !== undefined })),
    async login(provider, callbacks, signal) {
      try {
        await orAborted(providers.login(provider, callbacks), signal);
        return signal.aborted ? { refused: `The login with ${provider} was aborted` } : undefined;
      } catch (error) {
        return { refused: `The login with ${provider} failed: ${errorText(error)}` };
      }
    },
  };
}

const SOON_MS = 1000;
const LONGEST_SETUP_MS = 60_000;

/** Those that are loaded may decide about the code of the project. Undefined when nobody does, or nothing is to be decided. */
function askForTrust({ ground, extensions, store, pipeline }: JoinParts): undefined | Promise<boolean> {
  const { hooks } = extensions.host;
  if (extensions.found.leftOut.length === 0 || !hooks.listens("project_trust")) return undefined;
  return (async () => {
    const { decisionAbout, rememberDecision } = await import("./extensions/loading/trust.ts");
    if (decisionAbout(ground.agentDir, ground.cwd) !== undefined) return false;
    const { trusted, remember } = await hooks.run("project_trust", { cwd: store.cwd });
    if (trusted === undefined) return false;
    if (trusted) extensions.trustProject();
    try {
      if (remember) rememberDecision(ground.agentDir, ground.cwd, trusted);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      void pipeline.emit({ type: "notice", level: "warning", source: "extensions", message });
    }
    return trusted;
  })();
}

function untrusted(paths: readonly string[]) {
  const message = `Code of this project was not loaded, because nobody has said that it is trusted: ${paths.join(", ")}. Start with --approve to load it, or name a file with --extension.`;
  return { type: "notice", level: "warning", source: "extensions", message } as const;
}

function offered({ settings }: Ground, resources: Resources | undefined): Resources["skills"] {
  return settings.get("enableSkillCommands") ? (resources?.skills ?? []) : [];
}

function commandItem(command: ReturnType<LoadedExtensions["host"]["generation"]["commands"]>[number]): CommandItem {
  const { name, definition, extension } = command;
  const { path, scope } = extension.source;
  const location = scope === "temporary" ? "path" : scope;
  const { description } = definition;
  return {
    name,
    ...(typeof description === "string" && { description }),
    source: "extension",
    location,
    path,
    sourceInfo: extension.source,
  };
}

/** What the system prompt is made of, for those who want to make another one. */
function promptOptions(
  resources: Resources | undefined,
  tools: Readonly<ReturnType<Toolbox["toolsFor"]>>,
  cwd: string,
): Record<string, unknown> {
  const { base, append = [], contextFiles = [] } = resources?.systemPrompt ?? {};
  return {
    cwd,
    ...(base !== undefined && { customPrompt: base }),
    ...(append.length > 0 && { appendSystemPrompt: append.join("\n\n") }),
    selectedTools: tools.map(({ name }) => name),
    toolSnippets: Object.fromEntries(tools.map(({ name, description }) => [name, description])),
    promptGuidelines: [],
    contextFiles: contextFiles.map(({ path, text }) => ({ path, content: text })),
    skills: copied(resources?.skills ?? []),
    sections: {},
  };
}
