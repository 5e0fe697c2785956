import { readFileSync } from "node:fs";
import { systemClock } from "../../packages/coding-agent/src/lib/clock.ts";
import { createTools } from "../../packages/coding-agent/src/tools/create-tools.ts";

/** A program for tests: calls tools one after the other, in a process that the test can put into a bad place. */

const calls = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as [tool: string, args: Record<string, unknown>][];
const outcomes: string[] = [];
for (const [name, args] of calls) {
  const [tool] = createTools({ names: [name], cwd: process.cwd(), env: process.env, clock: systemClock });
  const { signal } = new AbortController();
  const result = tool!.execute({ toolCallId: "call_1", args, signal, onUpdate: () => undefined });
  outcomes.push(
    await result.then(
      ({ content }) => content.map((block) => (block.type === "text" ? block.text : block.mimeType)).join("\n"),
      (error: Error) => `Error: ${error.message}`,
    ),
  );
}
process.stdout.write(JSON.stringify(outcomes));
