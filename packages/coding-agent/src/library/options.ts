import type { AgentSessionOptions } from "./types.ts";

/** An option that stands for one of the command line: checked and explained there. */
type OptionWords = { [K in keyof AgentSessionOptions]?: (value: NonNullable<AgentSessionOptions[K]>) => string[] };

const word = (name: string) => (value: unknown) => [`--${name}=${text(value)}`];

const OPTION_WORDS: OptionWords = {
  cwd: word("cwd"),
  model: word("model"),
  provider: word("provider"),
  apiKey: word("api-key"),
  // The setting refuses what is no level; the command line, which other programs write, only warns.
  thinkingLevel: (level) => [...word("thinking")(level), ...word("set")(`defaultThinkingLevel=${text(level)}`)],
  script: word("script"),
  systemPrompt: word("system-prompt"),
  appendSystemPrompt: word("append-system-prompt"),
  tools: (names) => (names.length === 0 ? ["--no-tools"] : word("tools")(names.join(","))),
  session(where) {
    if (where === false) return ["--no-session"];
    return where === "continue" ? ["--continue"] : word("session")(where);
  },
  sessionDir: word("session-dir"),
  extensions(which) {
    if (typeof which === "boolean") return which ? [] : ["--no-extensions"];
    return ["--no-extensions", ...which.flatMap(word("extension"))];
  },
  trustProject: (isTrusted) => [isTrusted ? "--approve" : "--no-approve"],
  settings: (values) => Object.entries(values).flatMap(([key, value]) => word("set")(`${key}=${text(value)}`)),
  args: (words) => [...words],
};

/** Those that the command line does not have. */
const OTHERS = new Set<string>(["agentDir", "env", "customTools", "dialogs"] satisfies (keyof AgentSessionOptions)[]);

/** What the command line would have to be for a session like that. Pure. */
export function argumentsFor(options: AgentSessionOptions): string[] | { error: string } {
  const words = ["--mode=rpc"];
  for (const [name, value] of Object.entries({ extensions: false, ...options })) {
    if (value === undefined || OTHERS.has(name)) continue;
    const of = Object.hasOwn(OPTION_WORDS, name) ? OPTION_WORDS[name as keyof AgentSessionOptions] : undefined;
    if (!of) return { error: `createAgentSession has no option "${name}"; it has: ${optionNames().join(", ")}` };
    try {
      words.push(...(of as (given: unknown) => string[])(value));
    } catch {
      return { error: `The option "${name}" of createAgentSession cannot be ${text(value)}` };
    }
  }
  return words;
}

function optionNames(): string[] {
  return [...Object.keys(OPTION_WORDS), ...OTHERS].sort();
}

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
