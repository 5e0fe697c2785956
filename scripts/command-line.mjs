// The command line of a script: `--help` prints its text and ends, anything else that it does not know is an error.
import { parseArgs } from "node:util";

/** Returns the words that are no options, at most `words` of them. Ends the process for help (0) and for mistakes (2). */
export function readCommandLine(help, { words = 0, argv = process.argv.slice(2) } = {}) {
  const read = attempt(argv);
  if (read.values?.help) {
    process.stdout.write(help);
    process.exit(0);
  }
  const problem = read.problem ?? tooMany(read.positionals, words);
  if (problem === undefined) return read.positionals;
  process.stderr.write(`${problem}\n\n${help}`);
  process.exit(2);
}

function attempt(argv) {
  try {
    return parseArgs({ args: argv, options: { help: { type: "boolean", short: "h" } }, allowPositionals: true });
  } catch (error) {
    return { problem: `Error: ${error.message.split(". ", 1)[0]}` };
  }
}

function tooMany(positionals, words) {
  return positionals.length > words ? `Error: there is no use for "${positionals[words]}"` : undefined;
}
