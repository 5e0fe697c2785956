import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { PLAYS_ALL } from "../support/part-of.ts";
import { repoRoot } from "../support/rpc-process.ts";
import { COMMANDS } from "./commands.ts";
import { MOMENTS } from "./moments.ts";
import { CellPlayer, cellsByProcess } from "./play-cell.ts";
import { CELLS, sampleOf, stateMachinePage } from "./state-machine.ts";

/**
 * Commands by moments, against the real process, and the page is the table. `npm test` plays every sentence of the page at one
 * of its moments, `npm run test:long` every cell.
 */

describe.each(cellsByProcess(PLAYS_ALL ? CELLS : sampleOf(CELLS)).map((cells) => ({ cells })))(
  "one after the other",
  { concurrent: true },
  ({ cells }) => {
    const player = new CellPlayer(cells);
    afterAll(() => player.dispose());

    const rows = cells.map((cell) => [cell.command.name, cell.moment.name, cell] as const);
    test.sequential.each(rows)("%s · %s", async (_command, _moment, cell) => {
      await player.play(cell);
    });
  },
);

test("docs/state-machine.md says what the cells say", () => {
  const path = join(repoRoot, "docs/state-machine.md");
  if (process.env.UPDATE_STATE_MACHINE === "1") writeFileSync(path, stateMachinePage());
  expect(readFileSync(path, "utf8")).toBe(stateMachinePage());
});

test("the sample has every sentence, every command and every moment", () => {
  const sample = sampleOf(CELLS);
  const sentences = (cells: typeof CELLS) => new Set(cells.map(({ command, outcome }) => command.name + outcome.says));
  expect(sentences(sample)).toEqual(sentences(CELLS));
  expect(new Set(sample.map(({ command }) => command))).toEqual(new Set(COMMANDS));
  expect(new Set(sample.map(({ moment }) => moment))).toEqual(new Set(MOMENTS));
});
