import type { Dialog, DialogAnswer } from "../client/host-side.ts";
import { harmless, type Style } from "./style.ts";

/** A dialog as a question in lines, and a line as its answer. */

export function questionLines(dialog: Dialog, style: Style): string[] {
  const title = style.bold(`? ${harmless(dialog.title).replaceAll("\n", "\n  ")}`);
  switch (dialog.method) {
    case "select":
      return [
        title,
        ...dialog.options.map((option, i) => `  ${i + 1}. ${harmless(option)}${detail(dialog, i, style)}`),
        hint("a number; nothing to leave it", style),
      ];
    case "confirm":
      return [title, `  ${harmless(dialog.message)}`, hint("y or n", style)];
    case "input":
      return [
        title,
        hint(dialog.placeholder ? `such as ${harmless(dialog.placeholder)}` : "nothing to leave it", style),
      ];
    case "editor":
      return [
        title,
        ...(dialog.prefill ? [`  ${harmless(dialog.prefill)}`] : []),
        hint("one line; nothing to leave it", style),
      ];
  }
}

function detail({ optionDetails }: Extract<Dialog, { method: "select" }>, index: number, style: Style): string {
  const text = optionDetails?.[index]?.description;
  return text === undefined ? "" : style.dim(`  ${harmless(text)}`);
}

const hint = (text: string, style: Style): string => style.dim(`  (${text})`);

/** `"again"` when the line is no answer to that question. */
export function answerOf(dialog: Dialog, line: string): { answer: DialogAnswer } | "again" {
  const text = line.trim();
  if (dialog.method === "confirm") {
    if (/^y(es)?$/i.test(text)) return { answer: true };
    return /^n(o)?$/i.test(text) ? { answer: false } : "again";
  }
  if (text === "") return { answer: undefined };
  if (dialog.method !== "select") return { answer: line };
  const byNumber = /^\d+$/.test(text) ? dialog.options[Number(text) - 1] : undefined;
  const chosen = byNumber ?? dialog.options.find((option) => option.toLowerCase() === text.toLowerCase());
  return chosen === undefined ? "again" : { answer: chosen };
}
