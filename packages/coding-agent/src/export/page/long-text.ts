import { ansiSpans } from "../text/ansi.ts";
import { type DiffLine, diffLines } from "../text/diff.ts";
import { highlight } from "../text/highlight.ts";
import { copyButton } from "./copy.ts";
import { addTo, type Child, el } from "./dom.ts";

/** Code, output and changes: texts of any length, of which a first part is shown and then as much as is asked for. */

/** A piece of text, with the names of its classes. */
interface Piece {
  text: string;
  style: string;
  isLine?: boolean;
}

const FIRST_CHARS = 6_000;
const MORE_CHARS = 40_000;
/** Elements cost more than characters. */
const MOST_PIECES = 3_000;

function* codePieces(code: string, language: string): Generator<Piece> {
  for (const { kind, text } of highlight(code, language)) yield { text, style: kind === "plain" ? "" : `k-${kind}` };
}

function* diffPieces(lines: readonly DiffLine[]): Generator<Piece> {
  const width = Math.max(0, ...lines.map(({ number }) => String(number ?? "").length));
  const signs = { added: "+", removed: "-", same: " ", gap: " ", head: " " };
  for (const { kind, number, text } of lines) {
    const margin = width > 0 ? `${String(number ?? "").padStart(width)} ` : "";
    yield { text: `${margin}${signs[kind]} ${text}\n`, style: `diff-line ${kind}`, isLine: true };
  }
}

interface Shown {
  className: string;
  label: string;
  whole: string;
  /** What stands above it, beside the button that copies it. */
  caption?: string;
}

function block(pieces: Generator<Piece>, { className, label, whole, caption }: Shown): HTMLElement {
  // One that is wider than the page is scrolled, also with the keyboard.
  const pre = el("pre", { class: className, tabindex: 0, role: "group", "aria-label": label });
  const more = el("button", { type: "button", class: "more" });
  let shown = 0;
  let held: Piece | undefined;

  const add = (limit: number): void => {
    const end = shown + limit;
    const nodes: Child[] = [];
    while (shown < end && nodes.length < MOST_PIECES) {
      const next = held ?? pieces.next().value;
      held = undefined;
      if (!next) break;
      const room = end - shown;
      const cut = next.text.length > room ? cutAt(next.text, room) : next.text.length;
      if (cut < next.text.length) held = { ...next, text: next.text.slice(cut) };
      const text = next.text.slice(0, cut);
      nodes.push(next.style === "" ? text : el("span", { class: next.style }, text));
      shown += cut;
    }
    addTo(pre, nodes);
    held ??= pieces.next().value || undefined;
    more.hidden = held === undefined;
    more.textContent = `Show more (${sizeText(Math.max(0, whole.length - shown))} left)`;
  };

  more.addEventListener("click", () => {
    add(MORE_CHARS);
    more.dispatchEvent(new CustomEvent("resized", { bubbles: true }));
  });
  add(FIRST_CHARS);
  return el(
    "div",
    { class: "long-text" },
    el(
      "div",
      { class: "long-text-bar" },
      copyButton(`Copy ${label.toLowerCase()}`, () => whole),
      el("span", {}, caption ?? ""),
    ),
    pre,
    more,
  );
}

/** Not between the halves of a character. */
function cutAt(text: string, at: number): number {
  const code = text.charCodeAt(at - 1);
  return code >= 0xd800 && code < 0xdc00 ? at - 1 || 2 : at;
}

const sizeText = (chars: number): string =>
  chars < 10_000
    ? `${chars.toLocaleString("en")} characters`
    : `${Math.round(chars / 1000).toLocaleString("en")} thousand characters`;

export function codeBlock(code: string, language: string, label = "Code"): HTMLElement {
  if (language === "diff" || language === "patch") return diffBlock(code);
  return block(codePieces(code, language), { className: "code", label, whole: code, caption: language });
}

export function terminalBlock(output: string, label = "Output"): HTMLElement {
  return block(ansiSpans(output), { className: "terminal", label, whole: output });
}

export function plainBlock(text: string, label = "Text"): HTMLElement {
  return block(codePieces(text, ""), { className: "plain", label, whole: text });
}

export function diffBlock(diff: string, label = "Changes"): HTMLElement {
  return linesBlock(diffLines(diff), diff, label);
}

export function linesBlock(lines: readonly DiffLine[], whole: string, label = "Changes"): HTMLElement {
  return block(diffPieces(lines), { className: "code diff", label, whole });
}

export function jsonBlock(value: unknown, label = "JSON"): HTMLElement {
  return codeBlock(jsonText(value, 2), "json", label);
}

/** JSON.parse reads what is nested deeper than JSON.stringify can write. */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent) ?? "";
  } catch {
    return "(nested too deep to be shown)";
  }
}
