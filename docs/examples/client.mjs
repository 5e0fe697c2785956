import { RpcClient } from "tiller/client";

const client = new RpcClient({
  args: ["--no-session"],
  // A tool of this program, which the model may call.
  tools: [
    {
      name: "open_ticket",
      description: "Opens a ticket in the tracker",
      parameters: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
      execute: ({ title }) => `ticket 7: ${title}`,
    },
  ],
  // What extensions and approvals ask: a text, true or false, or undefined for "no answer".
  onDialog: (dialog) => (dialog.method === "confirm" ? false : undefined),
});

await client.start();
try {
  const run = client.run("list", { timeoutMs: 60_000 });
  for await (const event of run) {
    if (event.type === "tool_execution_start") console.log(`[${event.toolName}]`);
    if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") {
      process.stdout.write(event.assistantMessageEvent.delta);
    }
    if (event.type === "message_update" && event.assistantMessageEvent.type === "text_end") console.log();
  }
  const { status, turns, error } = await run.result;
  console.log(`\n${status} after ${turns} calls of the model`);
  if (error) console.error(error.message);

  // Any command, by its name.
  const { model } = await client.commands.getState();
  console.log(model?.name);
} finally {
  await client.stop();
}
