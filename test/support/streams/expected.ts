import { readFileSync } from "node:fs";

/** What the streams beside mean, in neutral words: the same answers in the words of each vendor. */

export interface Heard {
  text: string;
  /** What can be read of the thinking. */
  thinking: string;
  calls: [name: string, args: unknown][];
  /** The kinds of input do not overlap; `output` includes `reasoning`. */
  usage: { input: number; output: number; cacheRead: number; cacheWrite: number; reasoning: number };
  stopReason: "stop" | "length" | "toolUse";
}

export const FAMILIES = [
  "anthropic-messages",
  "openai-completions",
  "openai-responses",
  "google-generative-ai",
] as const;
export type Family = (typeof FAMILIES)[number];
export const STREAM_NAMES = ["text", "thinking", "tools", "error", "cut-off"] as const;
export type StreamName = (typeof STREAM_NAMES)[number];

export const readStream = (family: Family, name: StreamName): Buffer =>
  readFileSync(new URL(`${family}/${name}.sse`, import.meta.url));

const usage = (counts: Partial<Heard["usage"]>): Heard["usage"] => ({
  input: 25,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  reasoning: 0,
  ...counts,
});

const TEXT: Heard = {
  text: 'Hello there! The file\n`naïve.ts` has "two" lines: 日本語 and 👋🏽. Path: C:\\new',
  thinking: "",
  calls: [],
  usage: usage({ input: 325, output: 31, cacheRead: 2048 }),
  stopReason: "stop",
};
const THINKING: Heard = {
  text: "27 × 453\u00a0= **12,231**",
  thinking: 'The user asks for 27 × 453.\n\nFirst: 400 × 27 = 10,800.\nThen "53" × 27 = 1,431.',
  calls: [],
  usage: usage({ output: 137, reasoning: 96 }),
  stopReason: "stop",
};
/** A summary of the thinking begins with a title. */
const SUMMARY: Heard = { ...THINKING, thinking: `**Multiplying**\n\n${THINKING.thinking}` };
const TOOLS: Heard = {
  text: "I'll look at both files.",
  thinking: "",
  calls: [
    ["read", { path: "src/main.ts", limit: 120 }],
    ["grep", { pattern: 'naï\\w+\t"q"', paths: ["src", "test"], icase: true }],
    ["todo", {}],
  ],
  usage: usage({ output: 118, reasoning: 64 }),
  stopReason: "toolUse",
};

/** The whole answers. */
export const EXPECTED: Readonly<Record<Family, Readonly<Record<"text" | "thinking" | "tools", Heard>>>> = {
  "anthropic-messages": {
    text: { ...TEXT, usage: usage({ output: 31, cacheRead: 2048, cacheWrite: 312 }) },
    thinking: THINKING,
    tools: { ...TOOLS, usage: usage({ output: 118 }) },
  },
  "openai-completions": { text: TEXT, thinking: THINKING, tools: TOOLS },
  "openai-responses": { text: TEXT, thinking: SUMMARY, tools: TOOLS },
  "google-generative-ai": { text: TEXT, thinking: SUMMARY, tools: TOOLS },
};

/** The words of the vendor at the end of `error.sse`, and what could be read before. */
export const ERROR_WORDS: Readonly<Record<Family, string>> = {
  "anthropic-messages": "Overloaded",
  "openai-completions": "The server had an error processing your request. Sorry about that!",
  "openai-responses": "The server had an error while processing your request. Sorry about that!",
  "google-generative-ai": "The model is overloaded. Please try again later.",
};
export const ERROR_TEXT = "Let me  think about…";
