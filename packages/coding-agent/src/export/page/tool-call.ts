import { isFields } from "../html/format.ts";
import { contentText, searchText } from "../model/entry-text.ts";
import { replacedLines } from "../text/diff.ts";
import { languageOfPath } from "../text/languages.ts";
import { badge, fieldList, viewIn } from "./custom-view.ts";
import { type Child, el } from "./dom.ts";
import { type Folds, fold } from "./fold.ts";
import { imageElement } from "./image.ts";
import { codeBlock, diffBlock, jsonBlock, jsonText, linesBlock, terminalBlock } from "./long-text.ts";
import { plural } from "./numbers.ts";
import { phasesIn, planCount, planElement } from "./todos.ts";

/** A call of a tool with its result: one line, and all of it when it is unfolded. */

type Fields = Record<string, unknown>;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** `result` is the message of the tool, if there is one. */
export function toolCall(folds: Folds, key: string, call: Fields, result: Fields | undefined): HTMLElement {
  const name = text(call.name) || text(result?.toolName) || "tool";
  const input = isFields(call.arguments) ? call.arguments : {};
  const view = viewIn(result?.details);
  return fold(folds, {
    key,
    className: result?.isError === true ? "tool failed" : "tool",
    summary: [
      el("span", { class: "tool-name" }, name),
      el("bdi", { class: "tool-about" }, aboutCall(input)),
      view && el("span", { class: "tool-state" }, ...view.title),
      state(result),
    ],
    text: () => `${searchText(call)}\n${result ? searchText(result) : ""}`,
    build: () => [
      ...inputParts(name, withoutShown(input, result)),
      ...(result ? resultParts(name, input, result, view?.body) : []),
    ],
  });
}

/** What an edit has changed says more than what it was asked to change. */
function withoutShown(input: Fields, result: Fields | undefined): Fields {
  const hasDiff = isFields(result?.details) && text(result.details.diff) !== "";
  return hasDiff ? Object.fromEntries(Object.entries(input).filter(([name]) => !REPLACEMENTS.includes(name))) : input;
}

const REPLACEMENTS = ["edits", "oldText", "newText", "old_text", "new_text", "old_string", "new_string"];

/** Names of arguments that tell best what a call is about. */
const TELLING = [
  "command",
  "pattern",
  "query",
  "path",
  "file_path",
  "filePath",
  "url",
  "description",
  "task",
  "prompt",
  "name",
];

function aboutCall(input: Fields): string {
  const name =
    TELLING.find((known) => text(input[known]) !== "") ?? Object.keys(input).find((key) => text(input[key]) !== "");
  return name === undefined ? "" : text(input[name]).slice(0, 300).replace(/\s+/g, " ");
}

function state(result: Fields | undefined): Child {
  if (!result) return badge("no result", "warning");
  if (result.isError === true) return badge("failed", "bad");
  const phases = phasesIn(result.details);
  const said = contentText(result.content);
  const lines = said === "" ? 0 : said.trimEnd().split("\n", 10_001).length;
  return el(
    "span",
    { class: "tool-state" },
    phases ? planCount(phases) : lines > 10_000 ? "10,000+ lines" : plural(lines, "line"),
  );
}

/** How the arguments of well-known tools are best read; undefined: as JSON. */
const INPUTS: Record<string, (input: Fields) => Child[] | undefined> = {
  bash: (input) => shellInput(input),
  shell: (input) => shellInput(input),
  write: (input) => {
    if (typeof input.content !== "string") return undefined;
    return [rest(input, ["content"]), codeBlock(input.content, languageOfPath(text(input.path)), "Content")];
  },
  edit: (input) => editInput(input),
};

function shellInput(input: Fields): Child[] | undefined {
  if (typeof input.command !== "string") return undefined;
  return [codeBlock(input.command, "shell", "Command"), rest(input, ["command"])];
}

function editInput(input: Fields): Child[] | undefined {
  const edits = (Array.isArray(input.edits) ? input.edits : [input]).filter(isFields);
  const parts = edits.map((edit) => {
    const before = text(edit.oldText ?? edit.old_text ?? edit.old_string);
    const after = text(edit.newText ?? edit.new_text ?? edit.new_string);
    return before === "" && after === "" ? undefined : linesBlock(replacedLines(before, after), after, "Replacement");
  });
  if (parts.length === 0 || parts.some((part) => part === undefined)) return undefined;
  return [rest(input, REPLACEMENTS), ...parts];
}

/** Arguments that are not shown otherwise. */
function rest(input: Fields, shown: readonly string[]): Child {
  const left = Object.entries(input).filter(([name]) => !shown.includes(name));
  return left.length > 0 && inputElement(Object.fromEntries(left));
}

const MOST_CHARS = 200;

/** Short ones as a list, others as JSON. */
function inputElement(input: Fields): HTMLElement {
  const texts = Object.entries(input).map(([name, value]) => [
    name,
    typeof value === "string" ? value : jsonText(value),
  ]);
  const isShort = texts.every(([, value = ""]) => value.length <= MOST_CHARS && !value.includes("\n"));
  return isShort ? fieldList(texts as [string, string][]) : jsonBlock(input, "Arguments");
}

function inputParts(name: string, input: Fields): Child[] {
  const special = Object.hasOwn(INPUTS, name) ? INPUTS[name]?.(input) : undefined;
  if (special) return special;
  return Object.keys(input).length > 0 ? [inputElement(input)] : [];
}

function resultParts(name: string, input: Fields, result: Fields, view: (() => Child[]) | undefined): Child[] {
  const details = isFields(result.details) ? result.details : {};
  const phases = phasesIn(details);
  const diff = text(details.diff);
  const said = contentText(result.content);
  const isCode = name === "read" && result.isError !== true && text(input.path) !== "";
  const output = isCode ? codeBlock(said, languageOfPath(text(input.path)), "Content") : terminalBlock(said, "Result");
  return [
    el("p", { class: "part" }, result.isError === true ? "Error" : "Result"),
    phases && planElement(phases),
    diff !== "" && diffBlock(diff),
    ...(view?.() ?? []),
    said !== "" && output,
    ...images(result.content),
    said === "" && diff === "" && !view && el("p", { class: "note" }, "No text."),
  ];
}

export function images(content: unknown): Child[] {
  const blocks = Array.isArray(content) ? content.filter((block) => isFields(block) && block.type === "image") : [];
  return blocks.map((block, i) => imageElement(block.data, `Image ${i + 1}`));
}
