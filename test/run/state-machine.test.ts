import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { partOf } from "../support/part-of.ts";
import { repoRoot } from "../support/rpc-process.ts";
import { playCell } from "./play-cell.ts";
import { CELLS, stateMachinePage } from "./state-machine.ts";

/** Commands by moments: every cell is played against the real process, and the page is the table. */

describe.concurrent("at each moment", () => {
  /** Those with a dialog take an extension each: `npm test` plays every sixth, `npm run test:long` all. */
  const isDialog = ({ moment }: (typeof CELLS)[number]): boolean => moment.name.startsWith("dialog");
  const plain = CELLS.filter((cell) => !isDialog(cell));
  const cells = [...plain, ...partOf(CELLS.filter(isDialog), 6, 0)];
  const rows = cells.map((cell) => [cell.command.name, cell.moment.name, cell] as const);
  test.each(rows)("%s · %s", async (_command, _moment, { command, moment, outcome }) => {
    await playCell(command, moment, outcome);
  });
});

test("docs/state-machine.md says what the cells say", () => {
  const path = join(repoRoot, "docs/state-machine.md");
  if (process.env.UPDATE_STATE_MACHINE === "1") writeFileSync(path, stateMachinePage());
  expect(readFileSync(path, "utf8")).toBe(stateMachinePage());
});
