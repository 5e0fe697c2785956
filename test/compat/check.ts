import type { Host, HostOptions, Shows } from "./host.ts";

/** One extension of somebody else, and what shows that it works here. */

export type Kind = "check" | "part" | "terminal";

export interface Check {
  kind: Kind;
  /** What is seen. */
  says: string;
  options?: HostOptions;
  run?(host: Host, extensionPath: string): Promise<void>;
}

export type Checks = Readonly<Record<string, Check>>;

/** The extension does its work in front of a host. */
export function check(says: string, options: HostOptions, run: NonNullable<Check["run"]>): Check {
  return { kind: "check", says, options, run };
}

/** As `check`, but what the extension is for cannot be had, or not be seen, in full; `says` says what. */
export function part(says: string, options: HostOptions, run: NonNullable<Check["run"]>): Check {
  return { kind: "part", says, options, run };
}

/** The extension is all about a terminal: it loads, and the host is told what it cannot have. */
export function forTerminal(says: string, options: HostOptions, run: NonNullable<Check["run"]>): Check {
  return { kind: "terminal", says, options, run };
}

export function terminal(says: string, told: { command?: string; by: Shows; options?: HostOptions }): Check {
  return {
    kind: "terminal",
    says,
    options: told.options,
    async run(host) {
      if (told.command !== undefined) await host.prompt(told.command);
      await host.told(told.by);
    },
  };
}

/** As an error of a check: what was expected, and what was there. */
export function expectText(what: string, text: string, wanted: Shows): void {
  const fits = typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
  if (!fits) throw new Error(`${what}: expected ${wanted}, got ${JSON.stringify(text.slice(0, 600))}`);
}

export function expectTrue(what: string, isTrue: boolean, seen: unknown): void {
  if (!isTrue) throw new Error(`${what}, got ${JSON.stringify(seen)?.slice(0, 600)}`);
}
