/** The protocol's types under the path that existing documentation names. */
export type { Params, Result, RpcCommand, RpcFailure, RpcResponse, RpcSuccess } from "@tiller/protocol/commands/index";
export type { RpcEvent } from "@tiller/protocol/events";
