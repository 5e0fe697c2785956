import type { AssistantMessage } from "@tiller/protocol/message";
import type { HookEvent, HookName, SessionHooks } from "../session/ports.ts";

type SessionEvent = Parameters<SessionHooks["observe"]>[0];
type EventPlace = Parameters<SessionHooks["observe"]>[1];

/** What those who listen are told of an event of the session; undefined when it is none of their business. */
export function observed(
  event: SessionEvent,
  place: EventPlace,
  now: () => number,
): { hook: HookName; payload: HookEvent<HookName> } | undefined {
  const name = event.type;
  if (!Object.hasOwn(PAYLOADS, name)) return undefined;
  const make = PAYLOADS[name as keyof typeof PAYLOADS] as PayloadOf;
  return { hook: name as HookName, payload: make(event, { turnIndex: place?.turnIndex ?? 0, timestamp: now() }) };
}

type PayloadOf = (event: SessionEvent, at: { turnIndex: number; timestamp: number }) => HookEvent<HookName>;
type EventOf<T> = Extract<SessionEvent, { type: T }>;
type Payloads = {
  [K in HookName & SessionEvent["type"]]?: (
    event: EventOf<K>,
    at: { turnIndex: number; timestamp: number },
  ) => HookEvent<K>;
};

const bare = <E extends { type: string }>({ type: _, ...payload }: E): Omit<E, "type"> => structuredClone(payload);

/** As much of it as is needed so that nobody can take anything out of the message that grows. */
function shallowCopy(message: AssistantMessage): AssistantMessage {
  return { ...message, content: message.content.map((block) => ({ ...block })) };
}

/**
 * The hooks that only hear. What they hear is a copy: whatever they do with it, the run goes on as it was. Messages that are whole when they are first told are not here, nor are their ends: their
 * handlers are asked before anybody hears of them; nor is the end of a turn, whose handlers have a say in what follows.
 */
const PAYLOADS = {
  agent_start: () => ({}),
  agent_end: ({ messages }) => structuredClone({ messages }),
  agent_settled: bare,
  turn_start: (_, { turnIndex, timestamp }) => ({ turnIndex, timestamp }),
  message_start: bare,
  message_update: ({ event, snapshot }) => ({
    message: shallowCopy(snapshot()),
    assistantMessageEvent: { ...event },
  }),
  tool_execution_start: bare,
  tool_execution_update: bare,
  tool_execution_end: bare,
  session_info_changed: bare,
  auto_compaction_start: bare,
  auto_compaction_end: bare,
  auto_retry_start: bare,
  auto_retry_end: bare,
  todo_reminder: bare,
  ttsr_triggered: bare,
} satisfies Payloads;

/** Told before anybody else hears of it, see above. */
export function isAskedBefore(event: SessionEvent): boolean {
  return event.type === "message_end" || (event.type === "message_start" && event.message.role !== "assistant");
}
