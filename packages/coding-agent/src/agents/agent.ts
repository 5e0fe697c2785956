import { basename } from "node:path";
import type { AgentSource } from "@tiller/protocol/sub-agent";
import { type Markdown, textOf } from "../prompts/frontmatter.ts";
import type { Place } from "../prompts/places.ts";

/** One kind of sub-agent, described in a Markdown file: the front matter says what it may use, the body what it is told. Pure. */

export interface AgentDefinition {
  name: string;
  /** By which the main agent chooses it. */
  description: string;
  source: AgentSource;
  /** Of the file, if there is one. */
  path?: string;
  /** Undefined: those of whoever starts it. */
  tools?: readonly string[];
  /** Patterns of models, the first that can be used counts. Empty: that of whoever starts it. */
  models: readonly string[];
  thinking?: string;
  /** Its system prompt. */
  prompt: string;
}

/** Without an agent when the file is none, or has nothing to be chosen by. */
export interface ReadAgent {
  agent?: AgentDefinition;
  problems: string[];
}

export function readAgent(path: string, markdown: Markdown, { location }: Place): ReadAgent {
  // A README beside the agents is nobody's mistake.
  const problems = markdown.problem === undefined ? [] : [markdown.problem];
  if (!markdown.hasFrontMatter) return { problems };
  const say = (key: string, what: string): void => void problems.push(`${path}:${markdown.lineOf(key)}: ${what}`);
  const text = (key: string): string | undefined => {
    const value = textOf(markdown.values.get(key));
    if (value === null) say(key, `"${key}" must be a text; it is passed over`);
    return value ?? undefined;
  };
  const words = (key: string): string[] | undefined => {
    const list = listOf(markdown.values.get(key));
    if (list === null)
      say(key, `"${key}" must be a list of names, or names with commas between them; it is passed over`);
    return list ?? undefined;
  };

  const name = text("name") ?? basename(path).replace(/\.md$/i, "");
  const description = text("description");
  const prompt = markdown.body.trim();
  if (description === undefined) say("description", `"description" is missing; the agent "${name}" is left out`);
  else if (prompt === "") say("name", `nothing follows the front matter; the agent "${name}" is left out`);
  if (description === undefined || prompt === "") return { problems };
  const thinking = text("thinking") ?? text("thinking-level") ?? text("thinkingLevel");
  const source = location === "project" ? "project" : "user";
  // Who was to have few tools must not get all of them by a slip of the pen.
  const tools = listOf(markdown.values.get("tools"));
  if (tools === null) {
    say("tools", `"tools" must be a list of names, or names with commas between them; the agent "${name}" is left out`);
    return { problems };
  }
  if (markdown.lost?.has("tools")) {
    return { problems: [`${problems.join("; ")}; its tools are not known, so the agent "${name}" is left out`] };
  }
  const models = words("model") ?? [];
  return { agent: { name, description, source, path, ...(tools && { tools }), models, thinking, prompt }, problems };
}

/** Undefined for what is missing, null for what is no list of names. */
function listOf(value: unknown): string[] | undefined | null {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string") ? named(value) : null;
  const text = textOf(value);
  return text === undefined || text === null ? text : named(text.split(","));
}

function named(names: readonly string[]): string[] {
  return names.map((name) => name.trim()).filter((name) => name !== "");
}
