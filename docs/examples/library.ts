import { type CustomTool, createAgentSession } from "tiller";

const tickets: CustomTool = {
  name: "find_ticket",
  description: "Finds a ticket by its number",
  parameters: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  execute: async (_toolCallId, { number }) => `Ticket ${number}: the build is slow`,
};

const { session, notices } = await createAgentSession({
  session: false, // nothing is written; leave it out to keep the conversation
  customTools: [tickets],
});
for (const notice of notices) console.error(notice);

session.subscribe((event) => {
  if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") {
    process.stdout.write(event.assistantMessageEvent.delta);
  }
  if (event.type === "message_update" && event.assistantMessageEvent.type === "text_end") console.log();
  if (event.type === "tool_execution_start") console.error(`\n[${event.toolName}]`);
});

const { status, error } = await session.prompt(process.argv[2] ?? "Summarize this repo");
console.error(`\n${status}: ${error?.message ?? `${session.messages.length} messages`}`);
await session.dispose();
