import { parseArgs } from "../args.ts";
import { type CreatedSession, createSession } from "../create-session.ts";
import { createIdSource, systemClock } from "../lib/clock.ts";
import type { Admission, AgentSession as InnerSession } from "../session/agent-session.ts";
import type { ExtensionUi } from "../session/ports.ts";
import { type CallCommand, createCommands } from "./commands.ts";
import { readCustomTools, runCustomTools } from "./custom-tools.ts";
import { createLibraryEvents, type LibraryEvents } from "./events.ts";
import { argumentsFor } from "./options.ts";
import type {
  AgentSession,
  AgentSessionOptions,
  CreatedAgentSession,
  CustomTool,
  Dialogs,
  PromptOptions,
  PromptResult,
} from "./types.ts";

declare const __TILLER_VERSION__: string;

const DISPOSED = "The session was disposed";

/**
 * A session in this process: no standard stream, no signal handler, no exit, nothing replaced. Several may go on side by
 * side. Rejects when there cannot be such a session.
 */
export async function createAgentSession(options: AgentSessionOptions = {}): Promise<CreatedAgentSession> {
  const argv = argumentsFor(options);
  if ("error" in argv) throw new Error(argv.error);
  const parsed = parseArgs(argv, "tiller");
  if (parsed.kind !== "run")
    throw new Error(parsed.kind === "error" ? plain(parsed.message) : `no "${parsed.kind}" here`);
  const tools = readCustomTools(options.customTools ?? []);
  if ("refused" in tools) throw new Error(tools.refused);
  const ids = createIdSource(systemClock);
  const env = { ...(options.env ?? process.env), ...(options.agentDir && folderIn(options.agentDir)) };
  const created = await createSession({
    run: parsed.run,
    env,
    cwd: process.cwd(),
    clock: systemClock,
    ids,
    guestMark: `guest-${ids.uuid()};`,
  });
  if ("error" in created) throw new Error(plain(created.error));
  const session = joinSession(created, options.dialogs ?? {});
  try {
    if (tools.length > 0) await session.setCustomTools(tools);
  } catch (error) {
    await session.dispose();
    throw error;
  }
  const { problems, notices } = created;
  return { session, problems: [...parsed.run.warnings, ...problems], notices };
}

/** Messages for the terminal begin with it. */
function plain(message: string): string {
  return message.replace(/^Error: /gm, "");
}

/** Both names: whoever names a folder means it whatever the environment says. */
function folderIn(agentDir: string): Record<string, string | undefined> {
  return { TILLER_DIR: agentDir, PI_CODING_AGENT_DIR: undefined };
}

function joinSession({ session, settings, run }: CreatedSession, dialogs: Partial<Dialogs>): AgentSession {
  const events = createLibraryEvents();
  session.subscribe(events.take);
  const ui = uiOf(dialogs, events);
  session.askThrough?.(ui);
  const call = createCommands(session, {
    version: __TILLER_VERSION__,
    dialect: run.dialect,
    maxLineBytes: settings.get("input.maxLineBytes"),
  });
  const joined = publicSession(session, events, call);
  session.extensions?.begin({ ui, mode: "rpc", shutdown: () => void joined.dispose() });
  return joined;
}

function publicSession(session: InnerSession, events: LibraryEvents, call: CallCommand): AgentSession {
  let disposing: Promise<void> | undefined;
  let prompts = 0;
  const open = (): void => {
    if (disposing) throw new Error(DISPOSED);
  };
  const taken = async (admission: Admission | Promise<Admission>): Promise<void> => {
    const admitted = await admission;
    if ("refused" in admitted) throw new Error(admitted.refused);
  };
  const allowed: CallCommand = async (...command) => {
    open();
    return call(...command);
  };
  return {
    get sessionId() {
      return session.state().sessionId;
    },
    get sessionFile() {
      return session.state().sessionFile;
    },
    get model() {
      return session.models.model;
    },
    get thinkingLevel() {
      return session.models.thinkingLevel;
    },
    get isStreaming() {
      return session.state().isStreaming;
    },
    get state() {
      return session.state();
    },
    get messages() {
      return session.messages();
    },
    get lastAssistantText() {
      return session.lastAssistantText();
    },
    async prompt(text, options = {}) {
      open();
      prompts += 1;
      return runPrompt(session, events, { ...options, message: words(text), id: `prompt-${prompts}` });
    },
    async steer(text, images) {
      open();
      await taken(session.enqueue("steering", { message: words(text), images }));
    },
    async followUp(text, images) {
      open();
      await taken(session.enqueue("followUp", { message: words(text), images }));
    },
    abort: () => session.abort(),
    waitForIdle: () => session.waitForIdle(),
    subscribe: events.subscribe,
    availableModels: async () => (await allowed("get_available_models", {})).models,
    setModel: ({ provider, id }) => allowed("set_model", { provider, modelId: id }),
    setThinkingLevel(level) {
      open();
      session.models.setThinkingLevel(level);
    },
    compact: (customInstructions) => allowed("compact", { customInstructions }),
    async setCustomTools(given) {
      open();
      await lend(session, given);
    },
    newSession: (parentSession) => allowed("new_session", { parentSession }),
    switchSession: (sessionPath) => allowed("switch_session", { sessionPath }),
    fork: (entryId) => allowed("fork", { entryId }),
    navigateTree: (entryId, options = {}) => allowed("navigate_tree", { entryId, ...options }),
    call: (command, ...[params]) => allowed(command, params),
    dispose() {
      disposing ??= (async () => {
        // A summary may take for ever, and so may a dialog.
        session.giveUpWaiting();
        await session.dispose(`Request was aborted: ${DISPOSED.toLowerCase()}`);
      })();
      return disposing;
    },
  };
}

/** What is no text would stand in the conversation for ever. */
function words(text: unknown): string {
  if (typeof text !== "string") throw new Error(`A prompt must be a text, got ${text === null ? "null" : typeof text}`);
  return text;
}

async function lend(session: InnerSession, given: readonly CustomTool[]): Promise<void> {
  const tools = readCustomTools(given);
  if ("refused" in tools) throw new Error(tools.refused);
  const set = (await session.hostTools()).set(tools, runCustomTools(tools));
  if ("refused" in set) throw new Error(set.refused);
}

async function runPrompt(
  session: InnerSession,
  events: LibraryEvents,
  { id, signal, ...request }: PromptOptions & { message: string; id: string },
): Promise<PromptResult> {
  signal?.throwIfAborted();
  const onAbort = (): void => void session.abort();
  let stop = (): void => undefined;
  const ended = new Promise<PromptResult>((resolve) => {
    stop = events.subscribe((event) => {
      if (event.type === "prompt_result" && event.id === id) resolve(event);
    });
  });
  try {
    const admission = await session.admit({ ...request, commandId: id });
    if ("refused" in admission) throw new Error(admission.refused);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    const job = "job" in admission ? admission.job?.() : undefined;
    // What fails unexpectedly has no result.
    const failed = job ? new Promise<never>((_, reject) => void job.catch(reject)) : ended;
    return await Promise.race([ended, failed]);
  } finally {
    stop();
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Without somebody to ask every question gets its default; what is only shown is a notice, if it says something. */
function uiOf(dialogs: Partial<Dialogs>, events: LibraryEvents): ExtensionUi {
  const hasUI = Boolean(dialogs.select ?? dialogs.confirm ?? dialogs.input ?? dialogs.editor);
  return {
    select: async () => undefined,
    confirm: async () => false,
    input: async () => undefined,
    editor: async () => undefined,
    notify: (message, level = "info") => void events.take({ type: "notice", level, message }, undefined),
    setStatus: () => undefined,
    setWidget: () => undefined,
    setTitle: () => undefined,
    setEditorText: () => undefined,
    ...dialogs,
    hasUI,
  };
}
