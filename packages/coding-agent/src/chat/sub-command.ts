import { isatty } from "node:tty";
import { runChat } from "./chat.ts";

export interface ChatCommandInputs {
  /** What stood behind `chat`: options for the agent, and words. */
  argv: readonly string[];
  words: readonly string[];
  /** The file of the program, to start the agent with. */
  programName: string;
  env: Readonly<Record<string, string | undefined>>;
  version: string;
  input: Parameters<typeof runChat>[0]["input"];
  output: Parameters<typeof runChat>[0]["output"];
}

/** `tiller chat [MESSAGE]`. Resolves to the exit code. */
export function runChatCommand(inputs: ChatCommandInputs): Promise<number> {
  const { argv, words, programName, env, version, input, output } = inputs;
  const isTerminal = input.isTTY === true && isatty(1);
  return runChat({
    agent: { command: (args) => [process.execPath, programName, ...args], args: argv },
    input,
    output,
    isTerminal,
    hasColours: isTerminal && !env.NO_COLOR && env.TERM !== "dumb",
    first: words.join(" "),
    version,
    onInterrupt(listener) {
      process.on("SIGINT", listener);
      return () => process.off("SIGINT", listener);
    },
  });
}
