import { isFields, type Kind } from "../html/format.ts";
import { contentText, searchText } from "../model/entry-text.ts";
import type { Spent } from "../model/session-index.ts";
import { badge, fieldList, viewIn } from "./custom-view.ts";
import { type Child, el, elementId, entryLink } from "./dom.ts";
import { type Folds, fold } from "./fold.ts";
import { codeBlock, jsonBlock, plainBlock, terminalBlock } from "./long-text.ts";
import { markdown } from "./markdown-view.ts";
import { moneyText, shortText } from "./numbers.ts";
import { phasesIn, planCount, planElement } from "./todos.ts";
import { images, toolCall } from "./tool-call.ts";

/** What an entry says, as elements: one function for each kind. */

type Fields = Record<string, unknown>;

export interface Shown {
  /** The entry, and its message if it is one. */
  entry: Fields;
  message: Fields;
  id: string;
  folds: Folds;
  spent: Spent | undefined;
  /** Results of the calls in it. */
  results: { id: string; message: Fields }[];
}

export interface Look {
  /** What the row is called; empty: it has no line of its own for it. */
  title: string;
  /** Beside the title. */
  about?: Child[];
  /** Small ones are a line between the messages. */
  isSmall?: boolean;
  tone?: string;
  body: Child[];
  /** What the button copies. */
  copies?: () => string;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The beginning of a text, without the signs of markdown. */
const plainStart = (value: unknown): string =>
  text(value)
    .slice(0, 200)
    .replace(/[*#`]+/g, "")
    .replace(/\s+/g, " ");

function user({ message, entry }: Shown): Look {
  const said = contentText(message.content ?? entry.content);
  return { title: "User", body: [markdown(said), ...images(message.content)], copies: () => said };
}

const STOPS: Record<string, [label: string, tone: string]> = {
  error: ["error", "bad"],
  aborted: ["aborted", "warning"],
  length: ["cut off at the limit of its length", "warning"],
};

function assistant(shown: Shown): Look {
  const { message, spent } = shown;
  const blocks = Array.isArray(message.content) ? message.content.filter(isFields) : [];
  const stop = STOPS[text(message.stopReason)];
  const matched = new Set<string>();
  const parts = blocks.map((block, i) => assistantPart(shown, block, i, matched));
  const strays = shown.results.filter(({ id }) => !matched.has(id));
  return {
    title: "Assistant",
    about: [
      el("span", { class: "model" }, text(message.model)),
      spent && el("span", { class: "spent", title: "tokens in, tokens out, cost" }, spentText(spent)),
      stop && badge(...stop),
    ],
    body: [
      ...(blocks.length === 0 && typeof message.content === "string" ? [markdown(message.content)] : parts),
      ...strays.map(({ id, message: result }) =>
        el("div", { id: elementId(id) }, toolCall(shown.folds, `${id}/result`, {}, result)),
      ),
      text(message.errorMessage) !== "" &&
        el("div", { class: "error", role: "note" }, plainBlock(text(message.errorMessage), "Error")),
    ],
    copies: () => contentText(message.content),
  };
}

const spentText = ({ input, output, cacheRead, cacheWrite, cost }: Spent): string =>
  `${shortText(input + cacheRead + cacheWrite)} → ${shortText(output)}${cost > 0 ? ` · ${moneyText(cost)}` : ""}`;

function assistantPart(shown: Shown, block: Fields, i: number, matched: Set<string>): Child {
  if (block.type === "text") return text(block.text).trim() !== "" && markdown(text(block.text));
  if (block.type === "thinking") return thinking(shown, block, i);
  if (block.type !== "toolCall") return fallback(shown.folds, `${shown.id}/${i}`, text(block.type) || "block", block);
  const result = shown.results.find(({ message }) => message.toolCallId === block.id);
  if (result) matched.add(result.id);
  const call = toolCall(shown.folds, `${shown.id}/${i}`, block, result?.message);
  return result ? el("div", { id: elementId(result.id) }, call) : call;
}

function thinking({ folds, id }: Shown, block: Fields, i: number): Child {
  const thought = text(block.thinking);
  if (thought.trim() === "")
    return block.redacted === true && el("p", { class: "note" }, "Thinking that the provider keeps secret.");
  return fold(folds, {
    key: `${id}/${i}`,
    className: "thinking",
    summary: [
      el("span", { class: "thinking-name" }, "Thinking"),
      el("bdi", { class: "tool-about" }, plainStart(thought)),
    ],
    text: () => thought,
    build: () => [markdown(thought)],
  });
}

function fallback(folds: Folds, key: string, name: string, value: unknown): HTMLElement {
  return fold(folds, {
    key,
    className: "tool",
    summary: [el("span", { class: "tool-name" }, name)],
    text: () => searchText(value),
    build: () => [jsonBlock(value)],
  });
}

function toolResult({ message, folds, id }: Shown): Look {
  return {
    title: "Result of a tool",
    body: [toolCall(folds, `${id}/result`, {}, message)],
    copies: () => contentText(message.content),
  };
}

function bashExecution({ message }: Shown): Look {
  const code = message.exitCode;
  const output = text(message.output);
  const states: Child[] = [
    typeof code === "number" && badge(`exit ${code}`, code === 0 ? "good" : "bad"),
    message.cancelled === true && badge("cancelled", "warning"),
    message.truncated === true && badge("shortened"),
    message.excludeFromContext === true && badge("not told to the model"),
  ];
  return {
    title: "Command of the user",
    about: states,
    body: [codeBlock(text(message.command), "shell", "Command"), output !== "" && terminalBlock(output)],
    copies: () => output,
  };
}

function customMessage({ message, entry, folds, id }: Shown): Look {
  const source = isFields(entry.message) ? message : entry;
  const said = contentText(source.content);
  const view = viewIn(entry, source.details);
  const name = text(source.customType) || "extension";
  const body = (): Child[] => view?.body() ?? [markdown(said), ...images(source.content)];
  const summary: Child[] = [
    el("span", { class: "tool-name" }, name),
    ...(view?.title ?? ["A message that is told to the model only"]),
  ];
  if (source.display === false) {
    return {
      title: "",
      isSmall: true,
      body: [fold(folds, { key: id, className: "tool", summary, text: () => said, build: body })],
    };
  }
  return { title: "Extension", about: [badge(name), ...(view?.title ?? [])], body: body(), copies: () => said };
}

function summaryLook(shown: Shown, source: Fields, title: string, about: string, inside?: Child): Look {
  const summary = text(source.summary);
  const part = fold(shown.folds, {
    key: shown.id,
    className: "summary",
    summary: [el("span", { class: "thinking-name" }, title), el("bdi", { class: "tool-about" }, about)],
    text: () => searchText(shown.entry),
    build: () => [inside, markdown(summary), isFields(source.details) && jsonBlock(source.details, "Details")],
  });
  return { title: "", tone: "landmark", body: [part], copies: () => summary };
}

/** As an entry it has the summary itself, as a message inside of it. */
const summarySource = ({ entry, message }: Shown): Fields => (isFields(entry.message) ? message : entry);

function compaction(shown: Shown): Look {
  const source = summarySource(shown);
  const before = typeof source.tokensBefore === "number" ? `, ${shortText(source.tokensBefore)} tokens,` : "";
  return summaryLook(shown, source, "Compaction", `What came before${before} became a summary`);
}

function branchSummary(shown: Shown): Look {
  const source = summarySource(shown);
  const from = text(source.fromId);
  const link =
    from !== "" && from !== "root" && el("p", { class: "note" }, entryLink(from, {}, "Where that branch begins"));
  return summaryLook(shown, source, "Summary of another branch", plainStart(source.summary), link);
}

/** A line of its own, without anything to unfold. */
const small = (...body: Child[]): Look => ({ title: "", isSmall: true, body: [el("p", { class: "line" }, ...body)] });

/** What Tiller itself writes as data. */
const OWN: Record<string, (data: Fields, shown: Shown) => Look> = {
  "tiller.leaf": (data) =>
    small(
      "Went back to here",
      text(data.from) !== "" && " from ",
      text(data.from) !== "" && entryLink(text(data.from), {}, "another branch"),
    ),
  "tiller.run_end": (data) => small("The run ended: ", badge(text(data.status) || "no answer", "warning")),
  "tiller.cut": () => small("The compaction keeps nothing from before."),
  "tiller.lost": () => small(badge("damaged", "bad"), " An entry that could not be read stood here."),
};

function custom(shown: Shown): Look {
  const { entry, folds, id } = shown;
  const type = text(entry.customType);
  const data = isFields(entry.data) ? entry.data : {};
  const own = Object.hasOwn(OWN, type) ? OWN[type] : undefined;
  if (own) return own(data, shown);
  const phases = phasesIn(data);
  if (type === "tiller.todos" && phases) {
    const summary = [
      el("span", { class: "tool-name" }, "Plan"),
      el("span", { class: "tool-state" }, planCount(phases)),
    ];
    return {
      title: "",
      isSmall: true,
      body: [
        fold(folds, {
          key: id,
          className: "tool",
          summary,
          text: () => searchText(data),
          build: () => [planElement(phases)],
        }),
      ],
    };
  }
  const view = viewIn(entry, data);
  if (!view) return { title: "", isSmall: true, body: [fallback(folds, id, type || "custom", entry.data ?? {})] };
  return { title: "Extension", about: [badge(type), ...view.title], body: view.body() };
}

function modelChange({ entry }: Shown): Look {
  const name = text(entry.model) || [text(entry.provider), text(entry.modelId)].filter((part) => part !== "").join("/");
  return small("Model: ", el("strong", {}, name));
}

function usage({ entry, spent }: Shown): Look {
  return small(
    `Spent beside the conversation (${text(entry.kind) || "other"}): `,
    spent ? spentText(spent) : "nothing",
  );
}

function sessionInit({ entry, folds, id }: Shown): Look {
  const tools = Array.isArray(entry.tools) ? entry.tools.map(text) : [];
  return {
    title: "",
    isSmall: true,
    body: [
      fold(folds, {
        key: id,
        className: "tool",
        summary: [
          el("span", { class: "tool-name" }, "Started as a sub-agent"),
          el("bdi", { class: "tool-about" }, text(entry.task)),
        ],
        text: () => searchText(entry),
        build: () => [
          fieldList([
            ["Task", text(entry.task)],
            ["Tools", tools.join(", ")],
          ]),
          plainBlock(text(entry.systemPrompt), "System prompt"),
        ],
      }),
    ],
  };
}

const LOOKS: Record<Kind, (shown: Shown) => Look> = {
  user,
  assistant,
  toolResult,
  bashExecution,
  customMessage,
  branchSummary,
  compaction,
  custom,
  model_change: modelChange,
  thinking_level_change: ({ entry }) =>
    small("Thinking level: ", el("strong", {}, text(entry.thinkingLevel) || "default")),
  label: ({ entry }) =>
    small(
      text(entry.label) === "" ? "A label was removed from " : `Label “${text(entry.label)}” for `,
      entryLink(text(entry.targetId), {}, "an entry"),
    ),
  session_info: ({ entry }) =>
    small("The session is called ", el("strong", {}, text(entry.name ?? entry.title) || "nothing")),
  usage,
  session_init: sessionInit,
  other: ({ entry, folds, id }) => ({
    title: "",
    isSmall: true,
    body: [fallback(folds, id, text(entry.type) || "unknown entry", entry)],
  }),
};

export function lookOf(kind: Kind, shown: Shown): Look {
  return LOOKS[kind](shown);
}
