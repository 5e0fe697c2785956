import type {
  AvailableCommandsUpdate,
  ConfigUpdate,
  EventFields,
  EventType,
  ExtensionUIRequest,
  RpcFrameError,
  SessionInfoUpdate,
} from "@tiller/protocol/plain-types.generated";

/** What the agent tells by itself. */

/** An event as it stands on the wire; `AgentEvent<"agent_end">` for one, `AgentEvent` for all. Other agents leave out `seq` and the ids. */
export type AgentEvent<K extends EventType = EventType> = {
  [T in K]: { type: T; seq?: number; promptId?: string; turnIndex?: number; messageId?: string } & EventFields<T>;
}[K];

/** What listeners hear: events, what extensions show and ask, and what an agent tells once frames may come in pieces. */
export type ClientEvent =
  | AgentEvent
  | ExtensionUIRequest
  | RpcFrameError
  | AvailableCommandsUpdate
  | SessionInfoUpdate
  | ConfigUpdate;

export type ClientEventType = ClientEvent["type"];

export type EventListener = (event: ClientEvent) => void;

/** Any frame: all that is sure is its type. */
export interface Frame {
  type: string;
  [field: string]: unknown;
}
