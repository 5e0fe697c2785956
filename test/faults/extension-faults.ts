import { existsSync } from "node:fs";
import { join } from "node:path";
import { repoRoot } from "../support/rpc-process.ts";
import type { Fault } from "./fault.ts";
import { post, until } from "./stage.ts";

/** What an extension does wrong, from the moment on, in every handler that is called and beside them. */

const EXTENSION = join(repoRoot, "test/fixtures/extensions/run/misbehaves.ts");
const LIMITS = ["--set", "extensionLimits.hookMs=300", "--set", "extensionLimits.stuckMs=1000"];

/** They take a third more than a process without. */
const MEMORY_MB = 160;
/** As many as the extension says. */
const FLOOD = 10_000;

/** Reports of the extension's errors, one for each of these. */
const isTold =
  (...words: RegExp[]): Fault["felt"] =>
  ({ rpc, since }) => {
    const errors = rpc.frames.slice(since).filter(({ type }) => type === "extension_error");
    return words.every((word) => errors.some(({ error }) => word.test(String(error))));
  };

const isFlooded: Fault["felt"] = ({ rpc, since }) =>
  rpc.frames.slice(since).filter(({ method }) => method === "notify").length === FLOOD;

const LOGGED = /\bline \d+$/gm;
/** What is logged goes to stderr, and nowhere else. */
const isLogged: Fault["felt"] = ({ rpc, since }) =>
  rpc.stderr.match(LOGGED)?.length === FLOOD &&
  !rpc.frames.slice(since).some((frame) => /\bline \d/.test(JSON.stringify(frame)));

const row = (name: string, says: string, after: Fault["after"], more: Partial<Fault> = {}): Fault => ({
  group: "extension",
  name,
  says,
  args: ["-e", EXTENSION, ...LIMITS],
  env: (props) => ({ BAD_EXTENSION: join(props, "extension") }),
  async strike(stage) {
    post(stage, "extension", name);
    await until("the extension has read what it is to do", () => existsSync(join(stage.props, "extension.seen")));
  },
  after,
  memoryMb: MEMORY_MB,
  ...more,
});

export const EXTENSION_FAULTS: readonly Fault[] = [
  row("throws", "Every handler throws, and so do a timer and a promise.", "lives", {
    felt: isTold(/a handler throws/, /a timer throws/, /a promise is rejected/),
  }),
  row("hangs", "No handler comes back; they have 300 ms.", "lives", { felt: isTold(/did not finish within 0\.3 s/) }),
  row(
    "loops",
    "It computes for ever; it has a second.",
    { exit: 124 },
    {
      check: { endsAnywhere: true },
    },
  ),
  row("exits", "`process.exit(3)`.", { exit: 3 }),
  row(
    "floods",
    "10,000 notices, which all arrive, and as many lines with `console.log`, all on stderr; no frame tells of them.",
    "lives",
    {
      check: { schema: false },
      felt: isFlooded,
      // By then it was read, too.
      feltWithNext: isLogged,
    },
  ),
];
