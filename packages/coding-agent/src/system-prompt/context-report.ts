import type { AgentTool } from "@tiller/agent/types";
import {
  joinPieces,
  type ListedSkill,
  type PromptPiece,
  promptPieces,
  type SystemPromptParts,
  skillEntry,
  skillsForModel,
} from "./build.ts";
import type { ContextFile } from "./context-files.ts";

/** What the model will see with the next prompt, part by part: how large each is and why it is there. Pure. */

export interface ContextPart {
  kind: "systemPrompt" | "appendedPrompt" | "tools" | "contextFile" | "skills" | "surroundings" | "conversation";
  name: string;
  path?: string;
  characters: number;
  /** An estimate: four characters each. */
  tokens: number;
  /** Of all tokens, in percent. */
  share: number;
  why: string;
  items?: ContextItem[];
}

export interface ContextItem extends Pick<ContextPart, "name" | "path" | "characters" | "tokens" | "share" | "why"> {}

export interface ContextReport {
  systemPrompt: string;
  tokens: number;
  contextWindow?: number;
  /** Of the context window. */
  percent?: number;
  parts: ContextPart[];
  /** What is there and yet not shown to the model. */
  leftOut: { name: string; path?: string; why: string }[];
}

export interface ContextReportInput {
  prompt: Omit<SystemPromptParts, "tools" | "contextFiles" | "skills"> & {
    tools: readonly (Pick<AgentTool, "name" | "description" | "parameters" | "source"> & Explained)[];
    contextFiles?: readonly ContextFile[];
    skills?: readonly (ListedSkill & Explained)[];
  };
  /** Where the text comes from that replaces the built-in one, and what is appended: `--system-prompt`, a path. */
  origins: { base?: string; append: readonly string[] };
  conversation: { messages: number; tokens: number };
  contextWindow?: number;
}

/** Why it is there, one sentence. */
interface Explained {
  why: string;
}

type MeasuredItem = Omit<ContextItem, "share">;
type Measured = Omit<ContextPart, "share" | "items"> & { items?: MeasuredItem[] };

export function contextReport({ prompt, origins, conversation, contextWindow }: ContextReportInput): ContextReport {
  const pieces = promptPieces(prompt);
  const measured = [
    ...pieces.flatMap((piece, index) => pieceOf(piece, index, { pieces, prompt, origins })),
    ...toolsPart(pieces, prompt.tools),
    conversationPart(conversation),
  ];
  const tokens = measured.reduce((sum, part) => sum + part.tokens, 0);
  return {
    systemPrompt: joinPieces(pieces),
    tokens,
    ...(contextWindow && { contextWindow, percent: inPercent(tokens, contextWindow) }),
    parts: measured.map(({ items, ...part }) => {
      const shared = withShare(part, tokens);
      return items ? { ...shared, items: items.map((item) => withShare(item, tokens)) } : shared;
    }),
    leftOut: hiddenSkills(prompt),
  };
}

function withShare<T extends MeasuredItem>(measured: T, tokens: number): T & { share: number } {
  return { ...measured, share: inPercent(measured.tokens, tokens) };
}

interface Surroundings {
  pieces: readonly PromptPiece[];
  prompt: ContextReportInput["prompt"];
  origins: ContextReportInput["origins"];
}

function pieceOf(piece: PromptPiece, index: number, { pieces, prompt, origins }: Surroundings): Measured[] {
  const size = sizeOf(piece.text);
  /** How many of this kind came before. */
  const place = pieces.slice(0, index).filter(({ kind }) => kind === piece.kind).length;
  switch (piece.kind) {
    case "base": {
      const from = origins.base ?? "the command line or a file";
      const why = prompt.base === undefined ? "The built-in text" : `Replaces the built-in text: ${from}`;
      return [{ kind: "systemPrompt", name: "System prompt", ...size, why }];
    }
    case "append": {
      const why = `Added to the system prompt: ${origins.append[place] ?? "the command line or a file"}`;
      return [{ kind: "appendedPrompt", name: "Addition to the system prompt", ...size, why }];
    }
    case "contextHeading":
    case "tools":
      // Counted with what follows it, and with the definitions.
      return [];
    case "contextFile": {
      const file = prompt.contextFiles![place]!;
      const heading = place === 0 ? (pieces[index - 1]?.text ?? "") : "";
      return [
        {
          kind: "contextFile",
          name: file.path,
          path: file.path,
          ...sizeOf(heading + piece.text),
          why: WHY[file.place],
        },
      ];
    }
    case "skills":
      return [{ kind: "skills", name: "Skills", ...size, ...skillItems(prompt) }];
    case "surroundings":
      return [{ kind: "surroundings", name: "Date and working folder", ...size, why: "Every prompt has them" }];
  }
}

const WHY: Readonly<Record<ContextFile["place"], string>> = {
  global: "It lies in the agent folder and holds for all projects",
  above: "It lies in a folder above the working folder",
  cwd: "It lies in the working folder",
  rule: "It is a rule that says alwaysApply",
};

function skillItems(prompt: ContextReportInput["prompt"]): Pick<Measured, "why" | "items"> {
  const shown = new Set(skillsForModel(prompt));
  const items = (prompt.skills ?? [])
    .filter((skill) => shown.has(skill))
    .map((skill) => ({ name: skill.name, path: skill.path, ...sizeOf(skillEntry(skill)), why: skill.why }));
  return {
    why: "Names and descriptions, so that the model knows what it can read; the texts come when it does",
    items,
  };
}

/** The definitions go beside the system prompt, which may list the tools once more. */
function toolsPart(pieces: readonly PromptPiece[], tools: ContextReportInput["prompt"]["tools"]): Measured[] {
  if (tools.length === 0) return [];
  const items = tools.map(({ name, description, parameters, source, why }) => {
    const from = source === undefined ? {} : { path: `<${source}>` };
    return { name, ...from, ...sizeOf(name + description + JSON.stringify(parameters)), why };
  });
  const list = pieces.filter(({ kind }) => kind === "tools").reduce((sum, { text }) => sum + text.length, 0);
  const characters = items.reduce((sum, item) => sum + item.characters, list);
  return [
    { kind: "tools", name: "Tools", characters, tokens: tokensOf(characters), why: "The tools that are active", items },
  ];
}

function conversationPart({ messages, tokens }: ContextReportInput["conversation"]): Measured {
  const why = messages === 0 ? "There is none yet" : `${messages} messages from the root of the session to its leaf`;
  return { kind: "conversation", name: "Conversation", characters: tokens * CHARACTERS_PER_TOKEN, tokens, why };
}

function hiddenSkills(prompt: ContextReportInput["prompt"]): ContextReport["leftOut"] {
  const shown = new Set(skillsForModel(prompt));
  return (prompt.skills ?? [])
    .filter((skill) => !shown.has(skill))
    .map(({ name, path, disableModelInvocation }) => ({
      name: `skill:${name}`,
      path,
      why: disableModelInvocation
        ? "The skill sets disable-model-invocation: only a prompt can call it"
        : "The tool read is not active, so the model could not read it",
    }));
}

const CHARACTERS_PER_TOKEN = 4;

function tokensOf(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

function sizeOf(text: string): { characters: number; tokens: number } {
  return { characters: text.length, tokens: tokensOf(text.length) };
}

function inPercent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 1000) / 10;
}
