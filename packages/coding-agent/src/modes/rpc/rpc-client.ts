/** The client under the path that existing documentation names. */
export { RpcClient } from "../../client/rpc-client.ts";
