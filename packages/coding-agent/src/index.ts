/** The library. For now: the protocol's types; the session as an object follows. */
export type { Params, Result, RpcCommand, RpcEvent, RpcResponse } from "./modes/rpc/rpc-types.ts";
