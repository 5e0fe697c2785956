import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import { AgentMessage } from "../message.ts";
import { exampleAssistant, exampleUser } from "./examples.ts";

export const MESSAGES = table({
  get_messages: defineCommand({
    type: "get_messages",
    summary: "Lists the messages of the conversation as it stands.",
    params: {},
    result: Type.Object({ messages: Type.Array(AgentMessage) }),
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [{ params: {}, data: { messages: [exampleUser, exampleAssistant] } }],
  }),
  get_messages_page: defineCommand({
    type: "get_messages_page",
    summary: "Lists some of the messages of the conversation, oldest first.",
    params: {
      cursor: Type.Optional(Type.String({ description: "`nextCursor` of the page before" })),
      limit: Type.Optional(Type.Number({ description: "1 to 256, 100 when absent; a page has at most 768 KiB" })),
    },
    result: Type.Object({
      messages: Type.Array(AgentMessage),
      nextCursor: Type.Optional(Type.String({ description: "absent on the last page" })),
      totalMessages: Type.Integer(),
    }),
    lane: "ordered",
    systems: ["later"],
    examples: [
      { params: { limit: 2 }, data: { messages: [exampleUser, exampleAssistant], totalMessages: 2 } },
      { params: { limit: 0 }, error: "RPC message page limit must be between 1 and 256" },
    ],
  }),
  get_last_assistant_text: defineCommand({
    type: "get_last_assistant_text",
    summary: "Tells the text of the last assistant message.",
    params: {},
    result: Type.Object({ text: Type.Optional(Type.String({ description: "absent when there is none" })) }),
    lane: "ordered",
    systems: ["pi", "omp", "xcsh"],
    examples: [
      { params: {}, data: { text: "Hi." } },
      { note: "before the first answer", params: {}, data: {} },
    ],
  }),
});
