import { isFields, type PageEnd, type PageStart } from "../html/format.ts";
import { chartElement } from "./chart.ts";
import { type Child, el } from "./dom.ts";
import { type Folds, fold } from "./fold.ts";
import { jsonBlock, plainBlock } from "./long-text.ts";
import { countText, dayText, durationText, isoText, moneyText, plural, shortText } from "./numbers.ts";
import type { Session } from "./session.ts";

/** The top of the page: what session this is, what it took, and what the model was told at its beginning. */

type Start = Partial<PageStart>;
type End = Partial<PageEnd>;

export function nameOf(start: Start, end: End | undefined): string {
  return end?.name || start.name || "Session";
}

export function introElement(session: Session, folds: Folds, start: Start, end: End | undefined): HTMLElement {
  return el(
    "header",
    { class: "intro" },
    el("h1", { dir: "auto" }, nameOf(start, end)),
    el("dl", { class: "facts" }, ...facts(session, start, end)),
    end && chartElement(session),
    end && told(folds, end),
    end && problems(session, end),
  );
}

function facts(session: Session, start: Start, end: End | undefined): Child[] {
  const tokens = end?.tokens;
  const users = session.index.kinds.filter((kind) => kind === "user").length;
  const list: [name: string, value: Child][] = [
    ["Model", end?.models?.join(", ")],
    ["Started", timeElement(end?.started ?? start.started)],
    ["Duration", end?.durationMs !== undefined && durationText(end.durationMs)],
    ["Messages of the user", end && countText(users)],
    ["Entries", end && countText(session.index.ids.length)],
    ["Tokens", tokens && el("span", { title: tokensTitle(tokens) }, shortText(tokens.total))],
    ["Cost", end?.cost !== undefined && moneyText(end.cost)],
    ["Folder", start.cwd !== undefined && el("code", {}, start.cwd)],
  ];
  return list
    .filter(([, value]) => value !== undefined && value !== false && value !== "")
    .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
}

const tokensTitle = ({ input, output, cacheRead, cacheWrite }: PageEnd["tokens"]): string =>
  `${countText(input)} in, ${countText(output)} out, ${countText(cacheRead)} read from and ${countText(cacheWrite)} written to the cache`;

function timeElement(iso: string | undefined): Child {
  const ms = iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isNaN(ms) ? undefined : el("time", { datetime: isoText(ms) }, dayText(ms));
}

function told(folds: Folds, { systemPrompt, tools }: End): Child {
  const hasTools = Array.isArray(tools) && tools.length > 0;
  if (!systemPrompt && !hasTools) return undefined;
  const prompt =
    systemPrompt &&
    fold(folds, {
      key: "/system-prompt",
      className: "tool",
      summary: [
        el("span", { class: "tool-name" }, "System prompt"),
        el("span", { class: "tool-about" }, `${countText(systemPrompt.length)} characters`),
      ],
      text: () => "",
      build: () => [plainBlock(systemPrompt, "System prompt")],
    });
  return el("div", { class: "told" }, prompt || undefined, hasTools && toolsFold(folds, tools));
}

function toolsFold(folds: Folds, tools: NonNullable<End["tools"]>): HTMLElement {
  const known = tools.filter(isFields);
  return fold(folds, {
    key: "/tools",
    className: "tool",
    summary: [
      el("span", { class: "tool-name" }, "Tools"),
      el("span", { class: "tool-about" }, known.map(({ name }) => String(name)).join(", ")),
    ],
    text: () => "",
    build: () =>
      known.flatMap(({ name, description, parameters }) => [
        el("p", { class: "part" }, String(name)),
        typeof description === "string" && plainBlock(description, "Description"),
        parameters !== undefined && jsonBlock(parameters, "Parameters"),
      ]),
  });
}

function problems(session: Session, end: End): Child {
  const texts = [
    end.entries === undefined && "The end of this file is missing: what you see is not all of the session.",
    (end.damagedLines ?? 0) > 0 &&
      `${plural(end.damagedLines ?? 0, "line")} of the session file could not be read and are missing here.`,
    session.index.ids.length === 0 && "Nothing was said in this session.",
  ].filter((text) => text !== false);
  return texts.length > 0 && el("div", { class: "problems" }, ...texts.map((text) => el("p", {}, text)));
}
