import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isAllowedLine } from "../../packages/coding-agent/src/approvals/command-match.ts";
import { readShellLine } from "../../packages/coding-agent/src/approvals/shell-line.ts";

/** Real shells against our reading of their language: of what a rule about `ok` allows, none starts `evil`. */

const WORDS = ["evil", "evil", "ok", "a", "$x", "#", "=", "~", "*", "-", "2", "é", "\u00a0", "!"];
const MARKS = ["'", "'", '"', '"', "\\", "\\", " ", " ", " ", "\t", "{", ",", "}", "\\\n"];
const EXPANSIONS = ["$", '"$\\\n', "(", ")", "(evil)", "`", "[", "]", "<", ">"];
const JOINTS = [";ok ", "&&ok ", "\nok ", "|ok ", " >&1 ", " >/dev/null ", " & ok ", ";", "\n", "&"];
const PIECES = [...WORDS, ...WORDS, ...MARKS, ...MARKS, ...JOINTS, ...EXPANSIONS];
const LINES = process.env.TILLER_ALL === "1" ? 200 : 30;

/** The same lines every time: a failure can be looked at. */
function linesThatAreAllowed(): string[] {
  let state = 4711;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const lines: string[] = [];
  for (let tries = 0; lines.length < LINES && tries < 100_000; tries++) {
    const line = `ok ${Array.from({ length: 1 + below(12) }, () => PIECES[below(PIECES.length)]).join("")}`;
    if (!line.includes("evil") || lines.includes(line)) continue;
    if (isAllowedLine(readShellLine(line), [["ok"], ["ok", "*"]])) lines.push(line);
  }
  return lines;
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tiller-shells-"));
  writeFileSync(join(folder, "ok"), "#!/bin/sh\n");
  writeFileSync(join(folder, "evil"), `#!/bin/sh\necho hit > '${folder}/hit'\n`);
  for (const program of ["ok", "evil"]) chmodSync(join(folder, program), 0o755);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Those that started it. */
function startedBy(shell: string, lines: readonly string[]): string[] {
  const each = `while IFS= read -r -d '' line; do ${shell} -c "$line" </dev/null >/dev/null 2>&1; wait; if [ -e hit ]; then printf '%s\\0' "$line"; rm hit; fi; done`;
  const env = { PATH: `${folder}:${process.env.PATH}`, x: "evil" };
  const { stdout } = spawnSync("bash", ["-c", each], {
    cwd: folder,
    env,
    input: lines.join("\0").concat("\0"),
    encoding: "utf8",
  });
  return stdout.split("\0").filter((line) => line !== "");
}

it.each(["bash", "sh"])("%s starts nothing else", (shell) => {
  const lines = linesThatAreAllowed();
  expect(lines.length).toBe(LINES);
  expect(startedBy(shell, ["ok; evil"])).toEqual(["ok; evil"]);
  expect(startedBy(shell, lines)).toEqual([]);
  expect(existsSync(join(folder, "hit"))).toBe(false);
});
