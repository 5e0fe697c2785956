import { relative, resolve } from "node:path";
import type { AnswerWatch } from "@tiller/agent/types";
import { type ArgumentReader, createArgumentReader } from "./argument-reader.ts";
import { type Automaton, createAutomaton, type State } from "./automaton.ts";
import type { Condition } from "./condition.ts";
import type { LoadedRule, Part, PathTest, Scope } from "./rule.ts";

/**
 * Asks the rules about answers while they grow. Each block of an answer is a text of its own, and so are the arguments of
 * each tool call; how a text is cut into pieces makes no difference.
 */
export interface Matcher {
  /**
   * For one answer. `onMatch` hears of rules that have matched, all that did so with the same character together and each
   * once; when it gives back true, the watch says so and is over.
   */
  watch(rules: readonly LoadedRule[], onMatch: (rules: LoadedRule[], part: Part) => boolean): Watch;
}

export type Watch = (event: Parameters<AnswerWatch>[0]) => boolean;

/** A condition in one kind of text. */
interface Watched {
  rule: LoadedRule;
  condition: Condition;
  /** Undefined: whatever file it is about, if any. */
  fits?(path: string): boolean;
}

/** One kind of text: all blocks of it have the same conditions. */
interface Kind {
  part: Part;
  watched: readonly Watched[];
  automaton: Automaton;
}

/** A text that grows. */
interface Text {
  kind: Kind;
  state: State;
  /** The first half of a character, until the second comes. */
  half: number;
  reader?: ArgumentReader;
  pathCount: number;
  /** These have matched, but it is not known yet which file this is about. */
  pending: Set<Watched>;
}

/**
 * Steps that the conditions of one kind of text may cost in one answer, beside looking up what was met before: a fraction of a
 * second. Usual conditions stay far below it; a text can be made so that some lead to a new state with every character.
 */
export const MOST_WORK = 2_000_000;
/** Characters between two looks at the work. */
const BETWEEN_LOOKS = 64;

/** `onSpent` hears of an answer whose rest is not looked at, because that would take too long. */
export function createMatcher(cwd: string, onSpent: () => void): Matcher {
  let kindsFor = "";
  let kinds = new Map<string, Kind | undefined>();
  let namedTools = new Set<string | undefined>();

  /** All tools that no rule names are one kind: a model may make up any number of names. */
  const kindOf = (rules: readonly LoadedRule[], part: Part, tool?: string): Kind | undefined => {
    const name = namedTools.has(tool) ? tool : undefined;
    const key = `${part} ${name ?? ""}`;
    if (!kinds.has(key)) kinds.set(key, makeKind(rules, part, name, cwd));
    return kinds.get(key);
  };

  return {
    watch(rules, onMatch) {
      const names = JSON.stringify(rules.map(({ rule }) => rule.name));
      // Most answers are watched by the same rules as the one before.
      if (names !== kindsFor) {
        kinds = new Map();
        namedTools = new Set(rules.flatMap(({ triggers }) => triggers.flatMap(({ scopes }) => scopes.map(toolOf))));
        kindsFor = names;
      }
      return watchAnswer((part, tool) => kindOf(rules, part, tool), onMatch, onSpent);
    },
  };
}

function toolOf({ tool }: Scope): string | undefined {
  return tool;
}

function makeKind(rules: readonly LoadedRule[], part: Part, tool: string | undefined, cwd: string): Kind | undefined {
  const watched = rules.flatMap((rule) =>
    rule.triggers.flatMap(({ condition, scopes }): Watched[] => {
      const here = scopes.filter((scope) => scope.part === part && (scope.tool === undefined || scope.tool === tool));
      if (here.length === 0) return [];
      return [{ rule, condition, ...(part === "tool" && pathTest(here, rule.globs, cwd)) }];
    }),
  );
  if (watched.length === 0) return undefined;
  return { part, watched, automaton: createAutomaton(watched.map(({ condition }) => condition)) };
}

/** Empty when a scope asks for no path. */
function pathTest(
  scopes: readonly Scope[],
  globs: readonly PathTest[] | undefined,
  cwd: string,
): Pick<Watched, "fits"> {
  const wanted = scopes.map(({ glob }) => (glob === undefined ? globs : [glob]));
  if (wanted.includes(undefined)) return {};
  const tests = wanted.flatMap((some) => some ?? []);
  return {
    fits(path) {
      const inside = relative(cwd, resolve(cwd, path)).replaceAll("\\", "/");
      return tests.some((test) => test(inside));
    },
  };
}

function watchAnswer(
  kindOf: (part: Part, tool?: string) => Kind | undefined,
  onMatch: (rules: LoadedRule[], part: Part) => boolean,
  onSpent: () => void,
): Watch {
  const texts = new Map<number, Text>();
  const told = new Set<LoadedRule>();
  /** How much work each kind had done before this answer. */
  const workBefore = new Map<Kind, number>();
  let isSpent = false;

  const spend = (): void => {
    isSpent = true;
    texts.clear();
    onSpent();
  };

  const begin = (index: number, part: Part, tool?: string): boolean => {
    const kind = isSpent ? undefined : kindOf(part, tool);
    if (!kind) return false;
    if (!workBefore.has(kind)) workBefore.set(kind, kind.automaton.work);
    const state = kind.automaton.start();
    const text: Text = { kind, state, half: 0, pathCount: 0, pending: new Set() };
    if (part === "tool") text.reader = createArgumentReader();
    texts.set(index, text);
    return state.hits.length > 0 && tell(text, state.hits);
  };

  /** True when the answer shall end. */
  const tell = (text: Text, hits: readonly number[]): boolean => {
    const { kind, reader, pending } = text;
    const ready: Watched[] = [];
    for (const at of hits) {
      const watched = kind.watched[at]!;
      if (told.has(watched.rule) || pending.has(watched)) continue;
      if (!watched.fits || reader?.paths.some(watched.fits)) ready.push(watched);
      else pending.add(watched);
    }
    return ready.length > 0 && tellRules(ready, kind.part);
  };
  const tellRules = (ready: readonly Watched[], part: Part): boolean => {
    const rules = [...new Set(ready.map(({ rule }) => rule))];
    for (const rule of rules) told.add(rule);
    return rules.length > 0 && onMatch(rules, part);
  };

  const takeCodePoint = (text: Text, codePoint: number): boolean => {
    text.state = text.kind.automaton.step(text.state, codePoint);
    return text.state.hits.length > 0 && tell(text, text.state.hits);
  };
  const takeUnit = (text: Text, unit: number): boolean => {
    const { half } = text;
    if (half === 0 && (unit & 0xf800) !== 0xd800) return takeCodePoint(text, unit);
    const isSecond = (unit & 0xfc00) === 0xdc00;
    const isFirst = (unit & 0xfc00) === 0xd800;
    text.half = isFirst ? unit : 0;
    if (half !== 0 && isSecond) return takeCodePoint(text, (half - 0xd800) * 0x400 + (unit - 0xdc00) + 0x10000);
    if (half !== 0 && takeCodePoint(text, half)) return true;
    return !isFirst && takeCodePoint(text, unit);
  };
  const takeArgument = (text: Text, reader: ArgumentReader, unit: number): boolean => {
    const meant = reader.take(unit);
    if (reader.paths.length > text.pathCount && foundPath(text, reader)) return true;
    return meant >= 0 && takeUnit(text, meant);
  };
  const foundPath = (text: Text, { paths }: ArgumentReader): boolean => {
    const path = paths[text.pathCount++]!;
    const ready = [...text.pending].filter(({ rule, fits }) => !told.has(rule) && fits?.(path));
    for (const watched of ready) text.pending.delete(watched);
    return tellRules(ready, text.kind.part);
  };

  const grow = (index: number, delta: string): boolean => {
    const text = texts.get(index);
    if (!text) return false;
    const { reader, kind } = text;
    const most = workBefore.get(kind)! + MOST_WORK;
    for (let at = 0; at < delta.length; at++) {
      const unit = delta.charCodeAt(at);
      if (reader ? takeArgument(text, reader, unit) : takeUnit(text, unit)) return true;
      if (at % BETWEEN_LOOKS === 0 && kind.automaton.work > most) {
        spend();
        return false;
      }
    }
    return false;
  };

  const end = (index: number): boolean => {
    const text = texts.get(index);
    if (!text) return false;
    texts.delete(index);
    if (text.half !== 0 && takeCodePoint(text, text.half)) return true;
    const hits = text.kind.automaton.end(text.state);
    return hits.length > 0 && tell(text, hits);
  };

  return (event) => {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
      case "toolcall_delta":
        return grow(event.contentIndex, event.delta);
      case "text_start":
        return begin(event.contentIndex, "text");
      case "thinking_start":
        return begin(event.contentIndex, "thinking");
      case "toolcall_start":
        return begin(event.contentIndex, "tool", event.toolName);
      case "text_end":
      case "thinking_end":
      case "toolcall_end":
        return end(event.contentIndex);
      case "complete":
        return [...texts.keys()].some(end);
      default:
        return false;
    }
  };
}
