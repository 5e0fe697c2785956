import type { AgentTool } from "@tiller/agent/types";
import type { ContextFile } from "./context-files.ts";

/** What the model is told of a skill. */
export interface ListedSkill {
  name: string;
  description: string;
  path: string;
  /** Only a person may call it, so it is not listed. */
  disableModelInvocation: boolean;
}

/** A tool, with what it wants to have said of it instead of the beginning of its description. */
export interface PromptTool extends Pick<AgentTool, "name" | "description"> {
  /** Empty: it is not listed. */
  promptSnippet?: string;
  promptGuidelines?: readonly string[];
}

export interface SystemPromptParts {
  /** Replaces the text about who the model is and how it works. */
  base?: string;
  /** Put after it. */
  append: readonly string[];
  tools: readonly PromptTool[];
  /** The most general first. */
  contextFiles?: readonly Pick<ContextFile, "path" | "text">[];
  skills?: readonly ListedSkill[];
  cwd: string;
  /** YYYY-MM-DD */
  date: string;
}

/** A stretch of the prompt, for those who want to know what it is made of. */
export interface PromptPiece {
  kind: "base" | "tools" | "append" | "contextHeading" | "contextFile" | "skills" | "surroundings";
  text: string;
}

const BASE = `You are a coding agent. A program runs you on behalf of a person who wants work done in a folder on their machine.
Look before you change: read the files that matter, then act with the tools you have, and check the result.
Do what was asked, no more. Say briefly what you did and what you found; show file paths when you name files.
When something cannot be done, say so plainly and say why.`;

/** What the model is told before the conversation. Pure: the same parts always give the same text, so that caches hold. */
export function buildSystemPrompt(parts: SystemPromptParts): string {
  return joinPieces(promptPieces(parts));
}

/** What was asked to be empty leaves no trace. */
export function joinPieces(pieces: readonly PromptPiece[]): string {
  return pieces.flatMap(({ text }) => (text === "" ? [] : [text])).join("\n\n");
}

/** The texts of the prompt in their order. */
export function promptPieces(parts: SystemPromptParts): PromptPiece[] {
  const { base, append, tools, contextFiles = [], cwd, date } = parts;
  const pieces: PromptPiece[] = [{ kind: "base", text: base ?? BASE }];
  if (base === undefined && tools.length > 0) {
    const lines = tools.map(toolLine).filter((line) => line !== "");
    if (lines.length > 0) pieces.push({ kind: "tools", text: `Your tools:\n${lines.join("\n")}` });
    const guidelines = [...new Set(tools.flatMap(({ promptGuidelines = [] }) => promptGuidelines))];
    if (guidelines.length > 0) {
      pieces.push({ kind: "tools", text: `Guidelines:\n${guidelines.map((line) => `- ${line}`).join("\n")}` });
    }
  }
  for (const text of append) pieces.push({ kind: "append", text });
  if (contextFiles.length > 0) pieces.push({ kind: "contextHeading", text: CONTEXT_HEADING });
  for (const { path, text } of contextFiles) pieces.push({ kind: "contextFile", text: `## ${path}\n\n${text}` });
  const skills = skillsForModel(parts);
  if (skills.length > 0) pieces.push({ kind: "skills", text: `${SKILLS_HEADING}\n\n${skillList(skills)}` });
  pieces.push({ kind: "surroundings", text: `Current date: ${date}\nCurrent working directory: ${cwd}` });
  return pieces;
}

function toolLine({ name, description, promptSnippet }: PromptTool): string {
  if (promptSnippet === undefined) return `- ${name}: ${firstSentence(description)}`;
  return promptSnippet === "" ? "" : `- ${name}: ${promptSnippet}`;
}

const CONTEXT_HEADING = `# Project Context

The following files hold what the people of this project want you to know and to follow. Where two of them disagree, the later one counts.`;

const SKILLS_HEADING = `Skills are instructions for certain kinds of work. When a task fits one of these descriptions, read the file at its location before you begin, and follow it. Relative paths in that file count from the folder it lies in.`;

/** A skill is of use only to a model that may know of it and can read its file. */
export function skillsForModel({ skills = [], tools }: Pick<SystemPromptParts, "skills" | "tools">): ListedSkill[] {
  if (!tools.some(({ name }) => name === "read")) return [];
  return skills.filter(({ disableModelInvocation }) => !disableModelInvocation);
}

function skillList(skills: readonly ListedSkill[]): string {
  return `<available_skills>\n${skills.map(skillEntry).join("\n")}\n</available_skills>`;
}

const LONGEST_DESCRIPTION = 1024;

export function skillEntry({ name, description, path }: ListedSkill): string {
  const short = description.slice(0, LONGEST_DESCRIPTION).toWellFormed();
  const lines = [
    "  <skill>",
    `    <name>${inXml(name)}</name>`,
    `    <description>${inXml(short)}</description>`,
    `    <location>${inXml(path)}</location>`,
    "  </skill>",
  ];
  return lines.join("\n");
}

const XML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function inXml(text: string): string {
  return text.replace(/[&<>]/g, (char) => XML[char]!);
}

function firstSentence(text: string): string {
  const end = text.search(/[.!?](\s|$)/);
  return end < 0 ? text : text.slice(0, end + 1);
}
