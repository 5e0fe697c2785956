import { COMMANDS } from "@tiller/protocol/commands/index";
import type { Lots } from "./lots.ts";
import { mutatedBytes, mutatedValue, randomBytes } from "./mutations.ts";

/** Lines for stdin: commands as the table has them, commands that are nearly so, and anything at all. */

type Command = Record<string, unknown>;

const commandsOfTable: readonly Command[] = Object.values(COMMANDS).flatMap((row) =>
  [...row.examples.map(({ params }) => params as Command), {}].map((params) => ({ type: row.type, ...params })),
);

/** What hosts send unasked: nobody waits for it. */
const ANSWERS: readonly Command[] = [
  { type: "extension_ui_response", id: "nobody", confirmed: true },
  { type: "host_tool_result", id: "nobody", result: { content: [{ type: "text", text: "x" }] } },
  { type: "host_tool_update", id: "nobody", partialResult: { content: [] } },
  { type: "host_uri_result", id: "nobody", content: "x" },
];

/** They take long, or do something to the world: seldom, and only what does no harm. */
const SELDOM: Record<string, Command> = {
  bash: { command: "true" },
  compact: {},
  clone: {},
  new_session: {},
  prompt: { message: "go" },
  abort_and_prompt: { message: "go" },
  list_sessions: {},
};

function example(lots: Lots, all: readonly Command[]): Command {
  for (;;) {
    const command = lots.one(all);
    const instead = SELDOM[String(command.type)];
    if (!instead) return command;
    if (lots.oneIn(30)) return { type: command.type, ...instead };
  }
}

/** A line, or several, without the last LF. */
export function inputLine(lots: Lots, n: number): Buffer {
  const kind = lots.below(20);
  if (kind === 0) return randomBytes(lots);
  const id = lots.oneIn(3) ? { id: lots.oneIn(4) ? n : `f${n}` } : {};
  const command = { ...example(lots, kind === 1 ? ANSWERS : commandsOfTable), ...id };
  if (kind < 4) return Buffer.from(JSON.stringify(command));
  if (kind < 12) return Buffer.from(JSON.stringify(mutatedValue(command, lots)) ?? "");
  return mutatedBytes(Buffer.from(JSON.stringify(command)), lots);
}
