import type { AgentHooks } from "@tiller/agent/types";
import type { AgentMessage } from "@tiller/protocol/message";
import type { EntryDraft, HookName, SessionHooks } from "../session/ports.ts";
import type { ExtensionActions } from "./actions.ts";
import { isAskedBefore, observed } from "./observed.ts";
import type { Runner } from "./runner.ts";

/**
 * The hooks as the session knows them: what it says is passed on, what it asks is asked. `session` is another value in
 * each session: what was not told in its own is none of the next one's business.
 */
export function createSessionHooks(
  runner: Runner,
  now: () => number,
  session: () => unknown,
  entries: () => ExtensionActions["entries"] | undefined,
): Omit<SessionHooks, "leave" | "entered"> {
  const { listens, run } = runner;
  /** Of the turn whose end was told last. */
  let turnIndex = 0;
  /** Events are told one after the other, whoever does not wait for them. */
  let told: Promise<unknown> = Promise.resolve();
  const tellInTurn = (work: () => Promise<unknown>): Promise<void> => {
    const own = session();
    const done = told.then(() => (session() === own ? work() : undefined));
    told = done;
    return done.then(() => undefined);
  };

  /** Everything that was told before is over when a handler has a say: it knows what has happened. */
  const settle = async (message: AgentMessage): Promise<AgentMessage> => {
    await told;
    const copy = (): AgentMessage => structuredClone(message);
    if (message.role !== "assistant" && listens("message_start")) await run("message_start", { message: copy() });
    if (!listens("message_end")) return message;
    const shown = copy();
    const { message: used } = await run("message_end", { message: shown });
    // Only what is given back counts, not what was done to the copy.
    return used === shown ? message : used;
  };
  const beforeTool: AgentHooks["beforeTool"] = async ({ toolName, toolCallId, args, signal }) => {
    await told;
    return run("tool_call", { toolName, toolCallId, input: args }, signal);
  };
  const afterTool: AgentHooks["afterTool"] = async ({ toolName, toolCallId, args, result, isError, signal }) => {
    const [input, shown] = structuredClone([args, result] as const);
    const used = await run("tool_result", { toolName, toolCallId, input, isError, ...shown }, signal);
    // Only what is given back counts, not what was done to the copy.
    const content = used.content === shown.content ? result.content : used.content;
    const details = used.details === shown.details ? result.details : used.details;
    return { result: { ...result, content, details }, isError: used.isError };
  };
  const endTurn: AgentHooks["endTurn"] = async ({ message, toolResults, signal }) => {
    await told;
    const idOf = (held: AgentMessage): string | undefined => entries()?.idOf(held);
    const messageEntryId = idOf(message);
    const toolResultEntryIds = toolResults.flatMap((result) => idOf(result) ?? []);
    const ids = { toolResultEntryIds, ...(messageEntryId !== undefined && { messageEntryId }) };
    const event = { turnIndex, ...structuredClone({ message, toolResults }), ...ids, entries: [], continue: false };
    const decided = await run("turn_end", event, signal);
    return { messages: keep(decided.entries, "turn_end"), continue: decided.continue };
  };
  const keep = (drafts: readonly EntryDraft[], by: HookName): AgentMessage[] =>
    drafts.length > 0 ? (entries()?.keep(drafts, by) ?? []) : [];
  const anyOf = (...hooks: HookName[]): boolean => hooks.some(listens);

  return {
    listens,
    run,
    observe(event, place) {
      if (event.type === "turn_end") turnIndex = place?.turnIndex ?? 0;
      if (!listens(event.type as HookName) || isAskedBefore(event)) return undefined;
      const about = observed(event, place, now);
      return about && tellInTurn(() => run(about.hook, about.payload));
    },
    async beforeSettle({ messages, aborted }, signal) {
      if (!listens("agent_before_settle")) return { messages: [], continue: false };
      await told;
      const event = { messages: structuredClone(messages), aborted, entries: [], continue: false };
      const decided = await run("agent_before_settle", event, signal);
      return { messages: keep(decided.entries, "agent_before_settle"), continue: decided.continue };
    },
    settled: () => told.then(() => undefined),
    forAgent() {
      if (!anyOf("message_start", "message_end", "tool_call", "tool_result", "turn_end")) return undefined;
      return {
        ...(anyOf("message_start", "message_end") && { settle }),
        ...(listens("tool_call") && { beforeTool }),
        ...(listens("tool_result") && { afterTool }),
        ...(listens("turn_end") && { endTurn }),
      };
    },
  };
}
