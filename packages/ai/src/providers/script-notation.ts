import { checkExpect, checkStep, ScriptError } from "./script-check.ts";
import type { Step, Turn } from "./script-types.ts";

/**
 * One turn on one line, as golden transcripts write it:
 *   model  delay 50 + text "on it" + toolCall bash {"command":"sleep 1"}
 * Words, numbers, JSON texts and JSON objects, with a lonely plus between steps. Pure.
 */

interface Token {
  value: unknown;
  /** A bare word, not a JSON text. */
  isWord: boolean;
}

export function parseScriptLine(line: string): Turn {
  const body = line.trim().replace(/^model(?:\s+|$)/, "");
  const groups = splitAtPlus(tokensOf(body, line));
  const turn: Turn = { steps: [] };
  for (const [i, tokens] of groups.entries()) {
    const where = `Script line, step ${i + 1}`;
    const [head, ...rest] = tokens;
    if (!head?.isWord)
      throw new ScriptError(`${where}: a step begins with its kind, such as text or toolCall: ${line.trim()}`);
    if (head.value === "expect") turn.expect = checkExpect({ ...turn.expect, ...pairs(rest, where) }, where);
    else turn.steps.push(parseStep(String(head.value), rest, where));
  }
  return turn;
}

/** Kinds that are a mere word; all others take a value. */
const BARE = new Set(["cut", "hang", "ignoreAbort"]);

function parseStep(kind: string, tokens: Token[], where: string): Step {
  if (BARE.has(kind)) return checkStep({ [kind]: true, ...pairs(tokens, where) }, where);
  const build = Object.hasOwn(BUILDERS, kind) ? BUILDERS[kind]! : single;
  return checkStep(build(kind, tokens, where), where);
}

type Builder = (kind: string, tokens: Token[], where: string) => Record<string, unknown>;

const BUILDERS: Readonly<Record<string, Builder>> = {
  text: quoted,
  thinking: quoted,
  endless: quoted,
  toolCall: (_kind, tokens, where) => call(tokens, where, "toolCall", "arguments"),
  toolCallRaw: (_kind, tokens, where) => call(tokens, where, "toolCallRaw", "json"),
  error: errorStep,
};

/** `delay 50`, `stopReason length`, `usage {"input":5}` */
function single(kind: string, tokens: Token[], where: string): Record<string, unknown> {
  const [value, ...options] = tokens;
  return { [kind]: value?.value, ...pairs(options, where) };
}

/** `text "abcd" times 10000` */
function quoted(kind: string, tokens: Token[], where: string): Record<string, unknown> {
  if (!tokens[0] || tokens[0].isWord)
    throw new ScriptError(`${where}: put what a ${kind} step says in double quotes: ${kind} "..."`);
  return single(kind, tokens, where);
}

/** `toolCall read {"path":"a"} id call_7 chunk 4` */
function call(tokens: Token[], where: string, kind: string, field: string): Record<string, unknown> {
  const [name, next, ...rest] = tokens;
  const hasValue = next !== undefined && !next.isWord;
  const { id, ...options } = pairs(hasValue ? rest : tokens.slice(1), where);
  const details = {
    name: name?.value,
    ...(hasValue ? { [field]: next.value } : {}),
    ...(id === undefined ? {} : { id }),
  };
  return { [kind]: details, ...options };
}

/** `error 429 "slow down" retryAfterMs 50`, `error overloaded` */
function errorStep(_kind: string, tokens: Token[], where: string): Record<string, unknown> {
  const error: Record<string, unknown> = {};
  const rest = [...tokens];
  if (typeof rest[0]?.value === "number") error.status = rest.shift()?.value;
  else if (rest[0]?.isWord && rest[0].value !== "retryAfterMs") error.kind = rest.shift()?.value;
  if (rest[0] && !rest[0].isWord) error.message = rest.shift()?.value;
  return { error: { ...error, ...pairs(rest, where) } };
}

/** `chunk 4 pace 10` */
function pairs(tokens: Token[], where: string): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (let i = 0; i < tokens.length; i += 2) {
    const name = tokens[i]!;
    const value = tokens[i + 1];
    if (!name.isWord || !value)
      throw new ScriptError(`${where}: expected "name value" pairs, not ${JSON.stringify(name.value)}.`);
    options[String(name.value)] = value.value;
  }
  return options;
}

function splitAtPlus(tokens: readonly Token[]): Token[][] {
  const groups: Token[][] = [[]];
  for (const token of tokens) {
    if (token.isWord && token.value === "+") groups.push([]);
    else groups[groups.length - 1]!.push(token);
  }
  return groups;
}

function tokensOf(body: string, line: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < body.length) {
    const start = body.slice(at).search(/\S/);
    if (start < 0) break;
    at += start;
    const end = /["{[]/.test(body.charAt(at)) ? endOfJson(body, at) : endOfWord(body, at);
    tokens.push(tokenOf(body.slice(at, end), line));
    at = end;
  }
  return tokens;
}

function tokenOf(source: string, line: string): Token {
  if (/^["{[]/.test(source)) {
    try {
      return { value: JSON.parse(source), isWord: false };
    } catch (error) {
      throw new ScriptError(
        `Script line: ${source} is not JSON (${error instanceof Error ? error.message : String(error)}): ${line.trim()}`,
      );
    }
  }
  if (/^-?\d+(?:\.\d+)?$/.test(source)) return { value: Number(source), isWord: false };
  if (source === "true" || source === "false") return { value: source === "true", isWord: false };
  return { value: source, isWord: true };
}

function endOfWord(body: string, from: number): number {
  const length = body.slice(from).search(/\s/);
  return length < 0 ? body.length : from + length;
}

/** Where a JSON value ends: brackets are counted outside of strings. */
function endOfJson(body: string, from: number): number {
  let depth = 0;
  let inString = false;
  for (let i = from; i < body.length; i++) {
    const character = body.charAt(i);
    if (inString && character === "\\") i++;
    else if (character === '"') inString = !inString;
    else if (!inString && "{[".includes(character)) depth++;
    else if (!inString && "}]".includes(character)) depth--;
    if (depth === 0 && !inString) return i + 1;
  }
  return body.length;
}
