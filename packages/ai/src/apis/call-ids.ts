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
}

const ANYTHING: CallIdRules = { forbidden: /(?!)/, longest: Number.POSITIVE_INFINITY };

/** Expects each call to be followed by its results, in the order of the calls, as `prepareHistory` leaves them. */
export function renameCalls(messages: readonly LlmMessage[], rules: CallIdRules = ANYTHING): LlmMessage[] {
  if (areFine(messages, rules)) return [...messages];
  const names = createNames(messages, rules);
  let due: string[] = [];
  return messages.map((message) => {
    if (message.role === "user") return message;
    if (message.role === "toolResult") return renamedResult(message, due.shift() ?? message.toolCallId);
    due = message.content.flatMap((block) => (block.type === "toolCall" ? [names.next(block.id)] : []));
    return renamedAnswer(message, due);
  });
}

/** The usual case, and each call of a model looks at the whole history. */
function areFine(messages: readonly LlmMessage[], rules: CallIdRules): boolean {
  const seen = new Set<string>();
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      if (block.id.includes("|") || seen.has(block.id) || !isValid(block.id, rules)) return false;
      seen.add(block.id);
    }
  }
  return true;
}

function renamedResult(message: ToolResultMessage, id: string): ToolResultMessage {
  return id === message.toolCallId ? message : { ...message, toolCallId: id };
}

function renamedAnswer(message: AssistantMessage, ids: readonly string[]): AssistantMessage {
  let at = 0;
  let changed = false;
  const content = message.content.map((block) => {
    if (block.type !== "toolCall") return block;
    const id = ids[at++]!;
    if (id === block.id) return block;
    changed = true;
    return { ...block, id };
  });
  return changed ? { ...message, content } : message;
}

/** Gives out ids, none of them twice. What is valid keeps its id when it first comes; nobody else is given it before. */
function createNames(messages: readonly LlmMessage[], rules: CallIdRules): { next(id: string): string } {
  const valid = new Set<string>();
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type === "toolCall" && isValid(block.id, rules)) valid.add(callPart(block.id));
    }
  }
  const used = new Set<string>();
  /** By the name that was wanted: how often it has been numbered. What was taken once stays taken. */
  const numbers = new Map<string, number>();
  const free = (wanted: string): string => {
    let number = numbers.get(wanted) ?? 1;
    let name = numbered(wanted, number, rules);
    while (valid.has(name) || used.has(name)) name = numbered(wanted, ++number, rules);
    numbers.set(wanted, number);
    return name;
  };
  return {
    next(id) {
      const part = callPart(id);
      const name = isValid(id, rules) && !used.has(part) ? id : free(shaped(id, rules));
      used.add(callPart(name));
      return name;
    },
  };
}

function isValid(id: string, rules: CallIdRules): boolean {
  const { longest, shortest = 1 } = rules;
  return callPart(id) !== "" && id.length <= longest && id.length >= shortest && id.search(rules.forbidden) === -1;
}

/** `call_abc|fc_def` is the id of a call and that of the item it came in. The first of them tells calls apart. */
function callPart(id: string): string {
  if (!id.includes("|")) return id;
  return id.split("|").find((part) => part !== "") ?? "";
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
