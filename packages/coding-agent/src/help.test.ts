import { describe, expect, it } from "vitest";
import { OPTION_ROWS, SUB_COMMANDS, type SubCommand } from "./cli-options.ts";
import { helpText, subCommandHelp } from "./help.ts";

const NAMES = Object.keys(SUB_COMMANDS) as SubCommand[];

it("all: every sub-command and every option that does something", () => {
  const text = helpText("1.2.3");
  for (const name of NAMES) expect(text).toContain(`  tiller ${name}`);
  for (const [name, { status }] of Object.entries(OPTION_ROWS)) {
    expect([name, text.includes(`\n  --${name}`)]).toEqual([name, status === "works"]);
  }
  expect(text).not.toMatch(/`|\]\(/);
});

describe("of a sub-command", () => {
  it.each(NAMES)("%s: how it is called, what it is for, its own options", (name) => {
    const text = subCommandHelp(name);
    expect(text.startsWith(`tiller ${name}`)).toBe(true);
    for (const [option, { commands = [] }] of Object.entries(OPTION_ROWS)) {
      if (commands.includes(name)) expect(text).toContain(`--${option}`);
    }
    for (const option of SUB_COMMANDS[name].options) {
      expect([option, OPTION_ROWS[option]?.status]).toEqual([option, "works"]);
      expect(text).toContain(`  --${option}`);
    }
  });

  it("says what an exit code of 1 means", () => {
    expect(subCommandHelp("config")).toContain("1 when a file or a variable has a mistake in it");
  });
});
