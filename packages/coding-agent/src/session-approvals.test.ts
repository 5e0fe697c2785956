import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, test } from "vitest";
import type { Rule } from "./approvals/rules.ts";
import { byRealPlace, guardedPlaces } from "./session-approvals.ts";

let root: string;
let cwd: string;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tiller-gate-")));
  cwd = join(root, "app");
  for (const folder of ["app/config", "dotfiles/agent", "dotfiles/ssh", "home"]) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  symlinkSync(join(cwd, "config"), join(cwd, ".tiller"));
  symlinkSync(join(root, "dotfiles"), join(root, "home", ".tiller"));
  symlinkSync(join(root, "dotfiles", "ssh"), join(root, "home", ".ssh"));
});
afterAll(() => rmSync(root, { recursive: true }));

it("guards every folder that may hold settings or programs, also where a link to it leads", () => {
  const places = guardedPlaces(join(root, "home", ".tiller", "agent"), cwd);
  expect(places).toEqual([
    ...[".pi", ".tiller", ".omp", ".xcsh", ".git"],
    join(root, "home", ".tiller", "agent"),
    join(root, "dotfiles", "agent"),
    join(cwd, "config"),
  ]);
});

test.each<[effect: Rule["effect"], path: string, real: string[]]>([
  ["deny", "~/.ssh", ["dotfiles/ssh"]],
  ["ask", "~/.ssh/*.pem", ["dotfiles/ssh/*.pem"]],
  ["deny", "~/.ssh/**/x", ["dotfiles/ssh/**/x"]],
  ["deny", ".tiller/new", ["app/config/new"]],
  ["deny", "~/other", []],
  ["deny", ".env", []],
  ["deny", "/**", []],
  ["allow", "~/.ssh", []],
])("%s %s is also about %j", (effect, path, real) => {
  const rule: Rule = { effect, text: `*(${path})`, tool: "*", path };
  const context = { cwd, env: { HOME: join(root, "home") } };
  expect(byRealPlace(rule, context)).toEqual(real.map((one) => ({ ...rule, path: join(root, one) })));
});
