import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repoRoot } from "../support/rpc-process.ts";
import type { Fault } from "./fault.ts";
import { FAULTS } from "./faults.ts";
import { STATES } from "./states.ts";

/** docs/reliability.md: the table of faults and states, with what came of each cell when the campaign was last accepted. */

/** By fault, then by state. */
export type Outcomes = Record<string, Record<string, string>>;

const PATHS = { outcomes: join(repoRoot, "test/faults/outcomes.json"), page: join(repoRoot, "docs/reliability.md") };

export const keyOf = ({ group, name }: Fault): string => `${group}: ${name}`;

export const readOutcomes = (): Outcomes => JSON.parse(readFileSync(PATHS.outcomes, "utf8"));
export const readPage = (): string => readFileSync(PATHS.page, "utf8");

export function writeOutcomes(outcomes: Outcomes): void {
  const inOrder = FAULTS.map((fault) => {
    const row = outcomes[keyOf(fault)] ?? {};
    return [keyOf(fault), Object.fromEntries(STATES.flatMap(({ name }) => (row[name] ? [[name, row[name]]] : [])))];
  });
  writeFileSync(PATHS.outcomes, `${JSON.stringify(Object.fromEntries(inOrder), null, 2)}\n`);
  writeFileSync(PATHS.page, reliabilityPage(outcomes));
}

const TITLES: Record<Fault["group"], string> = {
  provider: "The provider",
  disk: "The disk",
  host: "The host",
  process: "The process",
  extension: "An extension",
};

const INTRODUCTION = `# Reliability

What happens when something goes wrong around Tiller, whatever it is doing at that moment. Every cell of these tables is a
story that \`npm run test:faults\` plays with the real program, a model on loopback and real pipes; \`npm test\` plays some of
them. This page is written by it: \`UPDATE_RELIABILITY=1 npm run test:faults\`.

In each story, but for those of the first column, a first prompt is answered; then the process is brought into the state of the
column, and the fault of the row strikes. What the cell says has become of the prompt of that state (\`completed\`, \`error\`,
\`aborted\`) and, if it ended, of the process. Beyond that every story checks that

- the fault has struck, where the process lives through it: a second try, a notice, an error of the extension, a write that met
  the bad disk, a limit that the system says is in force, a process that stands still; or the outcome itself shows it;
- each accepted prompt has exactly one \`prompt_result\`, and all frames stand in a legal order and have the shape of the tables
  (the shape is not looked at in a flood; of a process that was killed, of one whose thread is stuck and of one whose output was
  closed, the frames until then);
- a process that lives answers the next prompt, and ends with code 0 when its input is closed;
- the file of a process that ended by itself says the same of the ending as the host was told, and has the result of the shell
  command or job that was cut short;
- no process that was started is left, also after \`SIGKILL\`;
- the process never had more than 120 MB of memory, about twice what it takes (160 with an extension, 90 with little memory, 85 with
  a host that stops reading, 150 with a flood of commands: a host that reads is read no faster than it reads; for one that writes
  all its commands before it reads, 32 MB of answers and 32 MB of commands wait);
- the session file is whole: another process opens it, finds every message that was announced, and goes on with the conversation.
`;

const WORDS = `- *not heard*: the host was gone before it could be told. How it ended is what the session file says: it closes the run, and
  each tool call has its result.
- *no ending*: the one case in which a prompt has no result. The thread that would tell it is stuck in the extension; the exit
  code says so, and the file has what was told.
- *killed*: nothing can be told. What was announced before is in the file.
- Where the prompt is part of no cell, as after a job that had outlived it, the cell tells of the answer that follows.
- A fault of the provider hits the answer that is awaited, or else the next one. What can pass is tried again (\`retry.*\`).`;

export function reliabilityPage(outcomes: Outcomes): string {
  const groups = [...new Set(FAULTS.map(({ group }) => group))];
  const sections = groups.map((group) => section(group, outcomes));
  return `${INTRODUCTION}\n${WORDS}\n\n${sections.join("\n\n")}\n`;
}

function section(group: Fault["group"], outcomes: Outcomes): string {
  const faults = FAULTS.filter((fault) => fault.group === group);
  const head = ["fault", ...STATES.map(({ name }) => name)];
  const rows = faults.map((fault) => [fault.name, ...STATES.map(({ name }) => outcomes[keyOf(fault)]?.[name] ?? "—")]);
  const table = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  const sentences = faults.map((fault) => `- **${fault.name}**: ${fault.says}${leftOut(fault)}`);
  return `## ${TITLES[group]}\n\n${table}\n\n${sentences.join("\n")}`;
}

/** Reasons, each with the states that it holds for. */
function leftOut(fault: Fault): string {
  const reasons = new Set(STATES.map((state) => fault.leftOut?.(state)));
  return [...reasons].flatMap((reason) => (reason === undefined ? [] : [` (—: ${reason})`])).join("");
}
