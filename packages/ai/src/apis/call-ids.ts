import type { AssistantMessage, LlmMessage, ToolResultMessage } from "@tiller/protocol/message";

/**
 * Ids of tool calls are made by providers, and each of them demands something else of the ids it is given back. Here they
 * are rewritten: a call and its result alike, and never two calls to one id.
 */

export interface CallIdRules {
  /** Matches every character that is not allowed, e.g. `/[^a-zA-Z0-9_-]/`. */
  forbidden: RegExp;
  longest: number;
  /** Shorter ids are filled up to this. */
  shortest?: number;
  /** What stands behind a `|` is the id of an item: no rule holds for it, and it stays with the first call that came with it. */
  withItemIds?: boolean;
}

const ANYTHING: CallIdRules = { forbidden: /(?!)/, longest: Number.POSITIVE_INFINITY };

/**
 * Gives out ids, none of them twice. Who comes first keeps a valid id: what was sent once must not change when a
 * conversation goes on.
 */
export interface CallNames {
  /** Expects each call to be followed by its results, in the order of the calls, as `prepareHistory` leaves them. */
  rename(messages: readonly LlmMessage[]): LlmMessage[];
  /** How many ids can still be taken back. */
  readonly given: number;
  /** The first of those that can be taken back are given for good. */
  settle(count: number): void;
  /** Takes back all that was not settled. */
  takeBack(): void;
}

export function renameCalls(messages: readonly LlmMessage[], rules?: CallIdRules): LlmMessage[] {
  return createCallNames(rules).rename(messages);
}

export function createCallNames(rules: CallIdRules = ANYTHING): CallNames {
  const used = new Set<string>();
  /** By the name that was wanted: how often it has been numbered. What was taken once stays taken. */
  const numbers = new Map<string, number>();
  let unsettled: { part: string; wanted?: string; numberBefore?: number }[] = [];

  const next = (id: string): string => {
    const part = callPart(id);
    if (isValid(rules.withItemIds ? part : id, rules) && !used.has(part)) {
      used.add(part);
      unsettled.push({ part });
      return id;
    }
    const wanted = shaped(id, rules);
    const numberBefore = numbers.get(wanted);
    let number = numberBefore ?? 1;
    let name = numbered(wanted, number, rules);
    while (used.has(name)) name = numbered(wanted, ++number, rules);
    numbers.set(wanted, number);
    used.add(name);
    unsettled.push({ part: name, wanted, numberBefore });
    return rules.withItemIds && number === 1 ? name + itemPart(id) : name;
  };
  return {
    rename: (messages) => renamedBy(next, messages),
    get given() {
      return unsettled.length;
    },
    settle(count) {
      unsettled.splice(0, count);
    },
    takeBack() {
      for (const { part, wanted, numberBefore } of unsettled.reverse()) {
        used.delete(part);
        if (wanted === undefined) continue;
        if (numberBefore === undefined) numbers.delete(wanted);
        else numbers.set(wanted, numberBefore);
      }
      unsettled = [];
    },
  };
}

function renamedBy(next: (id: string) => string, messages: readonly LlmMessage[]): LlmMessage[] {
  const renamed: LlmMessage[] = [];
  let due: string[] = [];
  let given = 0;
  for (const message of messages) {
    if (message.role === "user") renamed.push(message);
    else if (message.role === "toolResult") renamed.push(renamedResult(message, due[given++] ?? message.toolCallId));
    else {
      due = [];
      given = 0;
      for (const block of message.content) if (block.type === "toolCall") due.push(next(block.id));
      renamed.push(renamedAnswer(message, due));
    }
  }
  return renamed;
}

function renamedResult(message: ToolResultMessage, id: string): ToolResultMessage {
  return id === message.toolCallId ? message : { ...message, toolCallId: id };
}

function renamedAnswer(message: AssistantMessage, ids: readonly string[]): AssistantMessage {
  let at = 0;
  let changed = false;
  for (const block of message.content) if (block.type === "toolCall" && block.id !== ids[at++]) changed = true;
  if (!changed) return message;
  at = 0;
  const content = message.content.map((block) => (block.type === "toolCall" ? { ...block, id: ids[at++]! } : block));
  return { ...message, content };
}

function isValid(id: string, rules: CallIdRules): boolean {
  const { longest, shortest = 1 } = rules;
  return callPart(id) !== "" && id.length <= longest && id.length >= shortest && id.search(rules.forbidden) === -1;
}

/** `call_abc|fc_def` is the id of a call and that of the item it came in. The first of them tells calls apart. */
export function callPart(id: string): string {
  if (!id.includes("|")) return id;
  return id.split("|").find((part) => part !== "") ?? "";
}

function itemPart(id: string): string {
  return id.includes("|") ? id.slice(id.indexOf("|")) : "";
}

/** An id that obeys the rules, near to the given one. It may be taken already. */
function shaped(id: string, rules: CallIdRules): string {
  const { longest, shortest = 0 } = rules;
  const joint = jointOf(rules);
  const clean = callPart(id).replace(everyOne(rules.forbidden), joint) || "call".replace(everyOne(rules.forbidden), "");
  const hash = hashOf(id);
  if (clean.length > longest) return cutTo(clean, longest, joint + hash);
  return clean.length < shortest ? (clean + hash.repeat(shortest)).slice(0, shortest) : clean;
}

function numbered(wanted: string, number: number, rules: CallIdRules): string {
  return number === 1 ? wanted : cutTo(wanted, rules.longest, `${jointOf(rules)}${number}`);
}

function cutTo(text: string, longest: number, ending: string): string {
  return text.slice(0, Math.max(0, longest - ending.length)) + ending.slice(-longest);
}

/** What stands for a forbidden character and before an ending: nothing where even `_` is forbidden. */
function jointOf({ forbidden }: CallIdRules): string {
  return "_".search(forbidden) === -1 ? "_" : "";
}

function everyOne(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`);
}

/** FNV-1a, in letters and digits. Names need not be secret, only apart; those that still meet get a number. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0).toString(36).padStart(7, "0");
}
