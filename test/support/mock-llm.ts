/** A scripted model on loopback that speaks the wire formats of four vendors: the front door of the folder beside. */

export {
  emptyBody,
  fail,
  htmlPage,
  type Reply,
  type ReplyStep,
  redirect,
  say,
  stream,
  useTool,
} from "./mock-llm/reply.ts";
export { DIALECTS, type MockLlm, type MockLlmOptions, type SeenRequest, startMockLlm } from "./mock-llm/server.ts";
