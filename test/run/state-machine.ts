import { COMMANDS, type Command, type Outcome } from "./commands.ts";
import { MOMENTS, type Moment } from "./moments.ts";

/** The state machine of a session as a table: commands by moments, one sentence a cell. */

export interface Cell {
  command: Command;
  moment: Moment;
  outcome: Outcome;
}

export const CELLS: readonly Cell[] = COMMANDS.flatMap((command) =>
  MOMENTS.map((moment) => ({ command, moment, outcome: outcomeOf(command, moment) })),
);

/** Every sentence of each command once, and not always at the first moment that it is true of. */
export function sampleOf(cells: readonly Cell[]): Cell[] {
  const bySentence = new Map<string, Cell[]>();
  for (const cell of cells) {
    const key = `${cell.command.name}: ${cell.outcome.says}`;
    bySentence.set(key, [...(bySentence.get(key) ?? []), cell]);
  }
  return [...bySentence.values()].map((alike, number) => alike[number % alike.length] as Cell);
}

function outcomeOf({ cells }: Command, { name, active }: Moment): Outcome {
  return cells[name] ?? (active ? cells.active : cells.idle);
}

const INTRODUCTION = `# What a command does, and when

Every command that touches a run, at every moment of a run. Each cell of these tables is played against the real program
by \`test/run/state-machine.test.ts\`: each sentence at one of its moments in \`npm test\`, all of them in
\`npm run test:long\`. It also writes this page: change the cells in \`test/run/commands.ts\`, then run
\`UPDATE_STATE_MACHINE=1 npx vitest run test/run/state-machine.test.ts\`.

In every cell a follow-up already waits in the queue, and a prompt comes afterwards that must work. Beyond the sentence,
every cell checks the answers, the order of all events, that each accepted prompt has exactly one \`prompt_result\`, what
waits in the queues and that nothing is lost or told twice, and what \`get_state\` says.
`;

/** docs/state-machine.md */
export function stateMachinePage(): string {
  const moments = MOMENTS.map(({ name }) => name).join(", ");
  const sections = COMMANDS.map((command) => `## ${command.name}\n\n${commandTable(command)}`);
  return `${INTRODUCTION}\nThe moments: ${moments}; all but the first and the last are moments of a run. A dialog of a run is one that must be answered before a tool may run; one while idle is asked by a command of an extension. A dialog that is not withdrawn stays open, in every cell, until the host answers it; what the host says to one that was withdrawn is ignored.\n\n${sections.join("\n\n")}\n`;
}

/** Moments with the same outcome share a row; what most moments of a run have in common stands last. */
function commandTable(command: Command): string {
  const rows = new Map<string, string[]>();
  for (const moment of MOMENTS) {
    const { says } = outcomeOf(command, moment);
    rows.set(says, [...(rows.get(says) ?? []), moment.name]);
  }
  const { says: usual } = command.cells.active;
  const special = [...rows]
    .filter(([says]) => says !== usual)
    .map(([says, names]) => `| ${names.join(", ")} | ${says} |`);
  const during = special.length > 1 ? "else during a run" : "during a run";
  return ["| When | What happens |", "|---|---|", ...special, `| ${during} | ${usual} |`].join("\n");
}
