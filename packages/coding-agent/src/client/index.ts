/** `tiller/client`: what a program needs to steer an agent. */

export type * from "@tiller/protocol/plain-types.generated";
export type { AgentCommandOptions } from "./agent-command.ts";
export type { Call, CallOptions } from "./call.ts";
export type { ClientOptions } from "./client-options.ts";
export { ClientError, type ClientErrorCode } from "./errors.ts";
export type { AgentEvent, ClientEvent, ClientEventType, EventListener, Frame } from "./events.ts";
export type {
  AskPerson,
  Dialog,
  DialogAnswer,
  DialogContext,
  HostTool,
  HostToolContext,
  HostUris,
  ToolOutcome,
  UriContent,
} from "./host-side.ts";
export { isDialog } from "./host-side.ts";
export type { CommandMethods } from "./methods.generated.ts";
export type { Resumed } from "./missed-events.ts";
export { createProcessTransport, type ProcessTransportOptions } from "./process-transport.ts";
export type { PromptRun, RunOptions } from "./prompt-run.ts";
export { type PromptOutcome, textOf } from "./prompts.ts";
export { RpcClient } from "./rpc-client.ts";
export type { Greeting } from "./shake-hands.ts";
export type { AgentExit, Transport, TransportHandlers } from "./transport.ts";
