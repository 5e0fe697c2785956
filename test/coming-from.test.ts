import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Dialect } from "../packages/protocol/src/dialects/dialect.ts";
import { DIALECTS } from "../packages/protocol/src/dialects/index.ts";
import { repoRoot } from "./support/source-tree.ts";

/** docs/coming-from.md says nothing about the dialects that they do not do, and names only what is there. */

const path = join(repoRoot, "docs/coming-from.md");
const page = readFileSync(path, "utf8");
const yes = (is: boolean): string => (is ? "yes" : "no");

const ROWS: [what: string, says: (dialect: Dialect) => string][] = [
  ["`ready` is the first frame", ({ sendsReady }) => yes(sendsReady)],
  ["the answer to an unknown command has its `id`", ({ echoesIdOnUnknownCommand }) => yes(echoesIdOnUnknownCommand)],
  [
    "an exception that nobody expected is answered as `parse`, without `id`",
    ({ unexpectedExceptionAsParse }) => yes(unexpectedExceptionAsParse),
  ],
  [
    "a second prompt while one runs is told to use",
    ({ busyText }) => (busyText.includes("streamingBehavior") ? "`streamingBehavior`" : "`steer()`, `followUp()`"),
  ],
  [
    "events that are left out",
    ({ omittedEvents }) => [...omittedEvents].map((type) => `\`${type}\``).join(", ") || "none",
  ],
  ["`setTitle` is sent without `PI_RPC_EMIT_TITLE`", ({ sendsTitle }) => yes(sendsTitle)],
  ["a dialog that is withdrawn is told (`cancel`)", ({ sendsDialogCancel }) => yes(sendsDialogCancel)],
  [
    "a prompt that an extension's command takes is answered",
    ({ answersCommandLate }) => (answersCommandLate ? "when it is done" : "at once"),
  ],
  [
    "a message of an extension that cannot be sent is a failed `response`, too (`extension_send`, `extension_send_user`)",
    ({ answersFailedSends }) => yes(answersFailedSends),
  ],
  [
    "an unknown option of the command line is",
    ({ unknownFlag }) => (unknownFlag === "error" ? "an error" : "a warning"),
  ],
  ["code of a project runs without approval", ({ trustsProjects }) => yes(trustsProjects)],
  ["folder and variables survive from one `bash` command to the next", ({ keepsShellState }) => yes(keepsShellState)],
  [
    "tools that are active beside the usual ones",
    ({ moreTools }) => moreTools.map((name) => `\`${name}\``).join(", ") || "none",
  ],
  ["`interruptMode` at the start", ({ defaults }) => `\`${defaults.interruptMode}\``],
  ["thinking level at the start", ({ defaults }) => `\`${defaults.thinkingLevel}\``],
];

test("the table of dialects is what the dialects are, and has all of them", () => {
  const { union, pi, omp, xcsh } = DIALECTS;
  for (const [what, says] of ROWS) {
    expect(page).toContain(`| ${[what, ...[union, pi, omp, xcsh].map(says)].join(" | ")} |`);
  }
  const { name: _name, defaults, ...fields } = union;
  expect(ROWS).toHaveLength(Object.keys(fields).length + Object.keys(defaults).length);
});

test("every file that it names as a proof is there", () => {
  const targets = [...page.matchAll(/\]\(([^)#]+)\)/g)].map(([, target]) => target!);
  expect(targets.length).toBeGreaterThan(20);
  const local = targets.filter((target) => !target.startsWith("http"));
  expect(local.filter((target) => !existsSync(join(dirname(path), target)))).toEqual([]);
});
