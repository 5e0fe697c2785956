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
