import { at, isRecord, list } from "./frame.ts";

/**
 * What a request to a model says, in words that belong to no vendor, and what its vendor would refuse in it. The rules are
 * those of the vendors' documentation, written down apart from the code that makes the requests.
 */

export interface Said {
  by: "user" | "model";
  kind: "text" | "image" | "thinking" | "call" | "result";
  /** The words; of a call its arguments as JSON, of an image its data. */
  text: string;
  /** Of a call and its result. Where the vendor has none it is made of their places. */
  id?: string;
  name?: string;
  signature?: string;
  /** Of an image that stands inside a result. */
  isPartOfResult?: true;
}

type Body = Record<string, unknown>;
type Wire = Record<string, unknown>;
const wires = (value: unknown): Wire[] => list(value).filter(isRecord);
const textAt = (value: unknown, ...path: (string | number)[]): string => {
  const found = at(value, ...path);
  return typeof found === "string" ? found : "";
};
const json = (value: unknown): string => JSON.stringify(value) ?? "";
/** The part of a data URL behind its comma. */
const dataOf = (url: string): string => url.slice(url.indexOf(",") + 1);

interface Family {
  read(body: Body): Said[];
  refuses(body: Body): string[];
}

const FAMILIES: Record<string, Family> = {
  "anthropic-messages": { read: readAnthropic, refuses: anthropicProblems },
  "openai-completions": { read: readChat, refuses: chatProblems },
  "openai-responses": { read: readResponses, refuses: responsesProblems },
  "google-generative-ai": { read: readGoogle, refuses: googleProblems },
};

function familyOf(name: string): Family {
  const family = FAMILIES[name];
  if (!family) throw new Error(`no family "${name}"; there are ${Object.keys(FAMILIES).join(", ")}`);
  return family;
}

/** The conversation of a request, without the system prompt. */
export const saidIn = (family: string, body: Body): Said[] => familyOf(family).read(body);

/** Everything the vendor would refuse; empty for a good request. */
export function refusedIn(family: string, body: Body): string[] {
  return [...conversationProblems(saidIn(family, body)), ...familyOf(family).refuses(body)];
}

/** What holds everywhere: the user begins, no text is blank, and every call has its one result before anyone goes on. */
function conversationProblems(said: readonly Said[]): string[] {
  const problems: string[] = [];
  const waiting = new Map<string, string | undefined>();
  const seen = new Set<string>();
  if (said[0]?.by !== "user") problems.push("the conversation does not begin with the user");
  for (const { by, kind, text, id = "", name, isPartOfResult } of said) {
    if (kind === "text" && text.trim() === "") problems.push(`a blank text by the ${by}`);
    if (kind === "call") {
      if (id === "" || seen.has(id)) problems.push(`the id "${id}" of a call is empty or not the first of its kind`);
      seen.add(id);
      waiting.set(id, name);
    } else if (kind === "result") {
      if (!waiting.has(id)) problems.push(`a result for "${id}", which is not waited for`);
      else if (name !== undefined && waiting.get(id) !== name) problems.push(`the result of "${id}" names ${name}`);
      waiting.delete(id);
    } else if (by === "user" && waiting.size > 0 && !isPartOfResult)
      problems.push(`"${text}" comes before the results of calls`);
  }
  if (waiting.size > 0) problems.push(`no results for ${[...waiting.keys()].join(", ")}`);
  return problems;
}

function idProblems(ids: readonly string[], pattern: RegExp): string[] {
  return ids.filter((id) => !pattern.test(id)).map((id) => `the id "${id}" does not match ${pattern}`);
}

function turnProblems(roles: readonly string[]): string[] {
  return roles.some((role, index) => role === roles[index + 1]) ? [`no turns: ${roles.join(", ")}`] : [];
}

/** Anthropic */

function readAnthropic({ messages }: Body): Said[] {
  return wires(messages).flatMap(({ role, content }) =>
    wires(content).flatMap((block) => anthropicBlock(block, role === "assistant" ? "model" : "user")),
  );
}

function anthropicBlock(block: Wire, by: Said["by"]): Said[] {
  const text = textAt(block, "text");
  switch (block.type) {
    case "text":
      return [{ by, kind: "text", text }];
    case "image":
      return [{ by, kind: "image", text: textAt(block, "source", "data") }];
    case "thinking":
      return [{ by, kind: "thinking", text: textAt(block, "thinking"), signature: textAt(block, "signature") }];
    case "redacted_thinking":
      return [{ by, kind: "thinking", text: "", signature: textAt(block, "data") }];
    case "tool_use":
      return [{ by, kind: "call", text: json(block.input), id: textAt(block, "id"), name: textAt(block, "name") }];
    case "tool_result": {
      const inside = wires(block.content).flatMap((part) => anthropicBlock(part, by));
      return resultAndImages({ by, kind: "result", text: "", id: textAt(block, "tool_use_id") }, inside);
    }
    default:
      throw new Error(`Anthropic knows no block ${json(block)}`);
  }
}

/** The words inside a result belong to it; its images are told after it. */
function resultAndImages(result: Said, inside: readonly Said[]): Said[] {
  const words = inside.filter(({ kind }) => kind === "text").map(({ text }) => text);
  const images = inside.filter(({ kind }) => kind === "image");
  return [
    { ...result, text: words.join("\n") },
    ...images.map((image) => ({ ...image, isPartOfResult: true as const })),
  ];
}

function anthropicProblems(body: Body): string[] {
  const said = readAnthropic(body);
  const messages = wires(body.messages);
  const ids = said.flatMap(({ kind, id }) => (kind === "call" ? [id ?? ""] : []));
  const problems = [
    ...turnProblems(messages.map(({ role }) => String(role))),
    ...idProblems(ids, /^[a-zA-Z0-9_-]{1,64}$/),
    ...said
      .filter(({ kind, signature }) => kind === "thinking" && !signature)
      .map(() => "thinking without a signature"),
  ];
  if (messages.at(-1)?.role !== "user") problems.push("the last message is not the user's");
  for (const { content } of messages) {
    const kinds = wires(content).map(({ type }) => (type === "tool_result" ? "result" : "other"));
    if (kinds.lastIndexOf("result") > kinds.indexOf("other") && kinds.includes("other"))
      problems.push("a result that is not at the beginning of its message");
  }
  if ((json(body).match(/"cache_control"/g)?.length ?? 0) > 4) problems.push("more than four marks for the cache");
  return [...problems, ...anthropicThinkingProblems(body, messages)];
}

function anthropicThinkingProblems(body: Body, messages: readonly Wire[]): string[] {
  if (at(body, "thinking", "type") !== "enabled") return [];
  const budget = Number(at(body, "thinking", "budget_tokens"));
  const problems = budget >= 1024 && budget < Number(body.max_tokens) ? [] : [`a budget of ${budget} tokens`];
  const isQuestion = ({ role, content }: Wire): boolean =>
    role === "user" && wires(content).some(({ type }) => type !== "tool_result");
  const opening = messages[messages.findLastIndex(isQuestion) + 1];
  const first = wires(opening?.content)[0]?.type;
  if (opening && first !== "thinking" && first !== "redacted_thinking")
    problems.push(`thinking is on, but the turn that goes on begins with ${String(first)}`);
  return problems;
}

/** OpenAI Chat Completions */

function readChat({ messages }: Body): Said[] {
  return wires(messages).flatMap((message): Said[] => {
    if (message.role === "tool") {
      const id = textAt(message, "tool_call_id");
      return [{ by: "user", kind: "result", text: textAt(message, "content"), id }];
    }
    if (message.role === "user") return chatParts(message.content, "user");
    if (message.role !== "assistant") return [];
    return [
      ...chatThinking(message),
      ...chatParts(message.content, "model"),
      ...wires(message.tool_calls).map(chatCall),
    ];
  });
}

function chatParts(content: unknown, by: Said["by"]): Said[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [{ by, kind: "text", text: content }];
  return wires(content).map((part): Said => {
    if (part.type === "text") return { by, kind: "text", text: textAt(part, "text") };
    if (part.type === "image_url") return { by, kind: "image", text: dataOf(textAt(part, "image_url", "url")) };
    throw new Error(`Chat Completions knows no part ${json(part)}`);
  });
}

function chatThinking(message: Wire): Said[] {
  const words = textAt(message, "reasoning_content");
  const details = message.reasoning_details === undefined ? undefined : json(message.reasoning_details);
  if (words === "" && details === undefined) return [];
  return [{ by: "model", kind: "thinking", text: words, ...(details ? { signature: details } : {}) }];
}

function chatCall(call: Wire): Said {
  const { name, arguments: text } = isRecord(call.function) ? call.function : {};
  return { by: "model", kind: "call", text: String(text), id: textAt(call, "id"), name: String(name) };
}

function chatProblems(body: Body): string[] {
  const ids = readChat(body).flatMap(({ kind, id }) => (kind === "call" ? [id ?? ""] : []));
  const messages = wires(body.messages);
  const empty = messages.filter(({ role, content, tool_calls }) => role === "assistant" && !content && !tool_calls);
  const strange = messages.filter(({ role }) => !/^(system|developer|user|assistant|tool)$/.test(String(role)));
  return [
    ...idProblems(ids, /^[a-zA-Z0-9_.:-]{1,64}$/),
    ...empty.map(() => "an answer without words and calls"),
    ...strange.map(({ role }) => `the role ${String(role)}`),
  ];
}

/** OpenAI Responses */

function readResponses({ input }: Body): Said[] {
  return wires(input).flatMap((item): Said[] => {
    const by = item.role === "user" ? "user" : "model";
    switch (item.type ?? "message") {
      case "message":
        return responsesParts(item.content, by);
      case "reasoning": {
        const text = wires(item.summary).map((part) => textAt(part, "text"));
        return [{ by, kind: "thinking", text: text.join("\n"), signature: textAt(item, "encrypted_content") }];
      }
      case "function_call":
        return [
          {
            by,
            kind: "call",
            text: textAt(item, "arguments"),
            id: textAt(item, "call_id"),
            name: textAt(item, "name"),
          },
        ];
      case "function_call_output": {
        const result: Said = { by: "user", kind: "result", text: "", id: textAt(item, "call_id") };
        return resultAndImages(result, responsesParts(item.output, "user"));
      }
      default:
        throw new Error(`Responses knows no item ${json(item)}`);
    }
  });
}

function responsesParts(content: unknown, by: Said["by"]): Said[] {
  if (typeof content === "string") return [{ by, kind: "text", text: content }];
  return wires(content).map((part): Said => {
    if (part.type === "input_image") return { by, kind: "image", text: dataOf(textAt(part, "image_url")) };
    if (part.type === (by === "user" ? "input_text" : "output_text"))
      return { by, kind: "text", text: textAt(part, "text") };
    throw new Error(`Responses knows no part ${json(part)} by the ${by}`);
  });
}

const ITEM_IDS: Record<string, RegExp> = {
  message: /^msg[\w-]{1,61}$/,
  reasoning: /^rs[\w-]{1,62}$/,
  function_call: /^fc[\w-]{1,62}$/,
};

function responsesProblems(body: Body): string[] {
  const items = wires(body.input);
  const ids = items.flatMap(({ type, call_id }) => (type === "function_call" ? [String(call_id)] : []));
  const problems = idProblems(ids, /^[a-zA-Z0-9_-]{1,64}$/);
  for (const [index, { type, id, encrypted_content }] of items.entries()) {
    const pattern = ITEM_IDS[String(type)];
    if (id !== undefined && pattern && !pattern.test(String(id)))
      problems.push(`the id ${json(id)} of a ${String(type)}`);
    if (type !== "reasoning") continue;
    const next = items[index + 1];
    if (!encrypted_content) problems.push("reasoning that nobody can read");
    if (next === undefined || next.role === "user" || next.type === "function_call_output")
      problems.push("reasoning that led to nothing");
  }
  return problems;
}

/** Google Gemini */

function readGoogle({ contents }: Body): Said[] {
  return wires(contents).flatMap(({ role, parts }, turn) => {
    const by = role === "model" ? "model" : "user";
    let calls = 0;
    return wires(parts).flatMap((part): Said[] => {
      const signature = textAt(part, "thoughtSignature");
      const signed = signature === "" ? {} : { signature };
      if (isRecord(part.functionCall)) {
        const { name, args } = part.functionCall;
        return [{ by, kind: "call", text: json(args), id: `${turn}.${calls++}`, name: String(name), ...signed }];
      }
      if (isRecord(part.functionResponse)) return googleResult(part.functionResponse, `${turn - 1}.${calls++}`);
      if (isRecord(part.inlineData)) return [{ by, kind: "image", text: textAt(part.inlineData, "data") }];
      if (typeof part.text !== "string") throw new Error(`Google knows no part ${json(part)}`);
      return [{ by, kind: part.thought === true ? "thinking" : "text", text: part.text, ...signed }];
    });
  });
}

function googleResult(response: Wire, id: string): Said[] {
  const words = textAt(response, "response", "output") || textAt(response, "response", "error");
  const images = wires(response.parts).map((part) => textAt(part, "inlineData", "data"));
  return [
    { by: "user", kind: "result", text: words, id, name: textAt(response, "name") },
    ...images.map((text): Said => ({ by: "user", kind: "image", text, isPartOfResult: true })),
  ];
}

function googleProblems(body: Body): string[] {
  const contents = wires(body.contents);
  const idsOf = (index: number, field: string): string[] =>
    wires(contents[index]?.parts).flatMap((part) => (field in part ? [textAt(part, field, "id")] : []));
  const problems = turnProblems(contents.map(({ role }) => String(role)));
  if (contents.at(-1)?.role !== "user") problems.push("the last content is not the user's");
  for (const index of contents.keys()) {
    const [calls, results] = [idsOf(index, "functionCall"), idsOf(index + 1, "functionResponse")];
    if (json(calls) !== json(results)) problems.push(`calls ${json(calls)} are answered by ${json(results)}`);
  }
  return problems;
}
