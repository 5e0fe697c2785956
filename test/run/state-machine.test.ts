import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { repoRoot } from "../support/rpc-process.ts";
import { CellPlayer, cellsByProcess } from "./play-cell.ts";
import { CELLS, stateMachinePage } from "./state-machine.ts";

/** Commands by moments: every cell is played against the real process, and the page is the table. */

describe.each(cellsByProcess(CELLS).map((cells) => ({ cells })))(
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
