import type { AgentToolResult } from "@tiller/agent/types";
import type { JsonSchema } from "@tiller/protocol/tool";
import { isPlainObject } from "../config/setting-value.ts";
import { createOutputBuffer } from "../exec/output-buffer.ts";
import { imageProblem } from "../lib/image-problem.ts";
import { objectSchemaProblem } from "../lib/schema-problem.ts";
import { MAX_BYTES } from "../tools/limits.ts";
import { formatSize, truncateHead } from "../tools/truncate.ts";
import type { Message } from "./json-rpc.ts";

/** Tools of servers as models see them: what they are called, what is said of them, what comes of a call. */

export interface ServerTool {
  name: string;
  title?: string;
  description: string;
  parameters: JsonSchema;
  /** It says that it changes nothing: several may run side by side. */
  isReader: boolean;
}

/** More of them no provider takes. */
export const MOST_TOOLS = 1000;
/** What is said of one tool goes to the model with every request. */
const LONGEST_TOOL = 100_000;
const LONGEST_OWN_NAME = 256;
const MOST_PROBLEMS = 10;

/** Of what a server lists: the tools, and what is wrong with the others. Of two of one name the first counts. */
export function readTools(given: readonly unknown[]): { tools: ServerTool[]; problems: string[] } {
  const tools = new Map<string, ServerTool>();
  const problems: string[] = [];
  if (given.length > MOST_TOOLS) problems.push(`it has more than ${MOST_TOOLS} tools: the others are left out`);
  for (const one of given.slice(0, MOST_TOOLS)) {
    const read = readTool(isPlainObject(one) ? one : {});
    if (typeof read === "string") problems.push(read);
    else if (!tools.has(read.name)) tools.set(read.name, read);
  }
  return { tools: [...tools.values()], problems: fewOf(problems) };
}

/** The tool, or what is wrong with it. */
function readTool({ name, title, description, inputSchema, annotations }: Message): ServerTool | string {
  if (typeof name !== "string" || name === "") return "a tool without a name is left out";
  const left = `its tool ${JSON.stringify(name.slice(0, LONGEST_OWN_NAME))} is left out: `;
  if (name.length > LONGEST_OWN_NAME) return `${left}its name has more than ${LONGEST_OWN_NAME} characters`;
  const wrong = isPlainObject(inputSchema) ? objectSchemaProblem(inputSchema) : "there is none";
  if (wrong !== undefined) return `${left}its inputSchema cannot be used: ${wrong}`;
  const hints = isPlainObject(annotations) ? annotations : {};
  const shown = [title, hints.title].find((text): text is string => typeof text === "string" && text !== "");
  const tool: ServerTool = {
    name,
    ...(shown !== undefined && { title: shown }),
    description: typeof description === "string" ? description : "",
    parameters: { type: "object", properties: {}, ...(inputSchema as JsonSchema) },
    isReader: hints.readOnlyHint === true,
  };
  const size = JSON.stringify(tool).length;
  if (size <= LONGEST_TOOL) return tool;
  return `${left}what it says of itself has ${size} characters, and at most ${LONGEST_TOOL} are possible`;
}

function fewOf(problems: readonly string[]): string[] {
  const rest = problems.length - MOST_PROBLEMS;
  if (rest <= 0) return [...problems];
  return [...problems.slice(0, MOST_PROBLEMS), `${rest} more of its tools are left out`];
}

/** What every provider takes. */
const LONGEST_NAME = 64;
const HASH_DIGITS = 6;

/** `mcp__server__tool`, cut where it is too long, and with a number where it is taken. */
export function toolName(server: string, tool: string, isTaken: (name: string) => boolean): string {
  const full = `mcp__${plain(server)}__${plain(tool)}`;
  const fitted = full.length <= LONGEST_NAME ? full : `${full.slice(0, LONGEST_NAME - HASH_DIGITS - 1)}_${hash(full)}`;
  for (let number = 1; ; number++) {
    const end = number === 1 ? "" : `_${number}`;
    const name = `${fitted.slice(0, LONGEST_NAME - end.length)}${end}`;
    if (!isTaken(name)) return name;
  }
}

/** As it may stand in the name of a tool. */
export function plain(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** Names that differ only behind the cut stay different. */
function hash(text: string): string {
  let sum = 0x811c9dc5;
  for (const char of text) sum = Math.imul(sum ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return sum.toString(16).padStart(8, "0").slice(0, HASH_DIGITS);
}

type Block = AgentToolResult["content"][number];

/** What a call has come to. What the server says is text of a stranger: it is shown as it is, and cut. */
export function callResult(answer: Message): AgentToolResult {
  if (answer.resultType === "input_required")
    throw new Error("The tool wants to ask a person, which is not possible here");
  const given = Array.isArray(answer.content) ? answer.content : [];
  const { structuredContent } = answer;
  const blocks = given.map(blockOf);
  const isSaid = blocks.some(({ type }) => type === "text");
  if (structuredContent !== undefined && !isSaid) blocks.push(text(JSON.stringify(structuredContent, null, 2)));
  if (blocks.length === 0) blocks.push(text("(no output)"));
  return {
    content: cutTexts(blocks),
    ...(structuredContent !== undefined && isSmall(structuredContent) && { details: { structuredContent } }),
    ...(answer.isError === true && { isError: true }),
  };
}

function isSmall(value: unknown): boolean {
  return JSON.stringify(value).length <= MAX_BYTES;
}

function text(said: string): Block {
  return { type: "text", text: said.toWellFormed() };
}

function blockOf(given: unknown): Block {
  const block = isPlainObject(given) ? given : {};
  const type = typeof block.type === "string" ? block.type.slice(0, LONGEST_TYPE) : undefined;
  const read = type !== undefined && Object.hasOwn(BLOCKS, type) ? BLOCKS[type]?.(block) : undefined;
  return read ?? text(`[Something of the type ${JSON.stringify(type)} is left out]`);
}

const LONGEST_TYPE = 40;
const BLOCKS: Readonly<Record<string, (block: Message) => Block | undefined>> = {
  text: (block) => (typeof block.text === "string" ? text(block.text) : undefined),
  image({ data, mimeType }) {
    if (typeof data !== "string" || typeof mimeType !== "string") return undefined;
    const problem = imageProblem({ data, mimeType });
    return problem === undefined ? { type: "image", data, mimeType } : text(`[Image left out: ${problem}]`);
  },
  audio: ({ mimeType }) => text(`[Audio left out: ${String(mimeType)}]`),
  resource_link: ({ uri, name, description }) =>
    text(
      [`[Resource ${String(name ?? "")}: ${String(uri)}]`, description]
        .filter((part) => typeof part === "string")
        .join(" "),
    ),
  resource({ resource }) {
    if (!isPlainObject(resource)) return undefined;
    const { uri, text: said, mimeType } = resource;
    if (typeof said === "string") return text(`[Resource ${String(uri)}]\n${said}`);
    return text(`[Resource ${String(uri)} left out: ${String(mimeType ?? "it")} is no text]`);
  },
};

/** All texts together get as much room as the output of any other tool; the whole of it is then in a file. */
function cutTexts(blocks: readonly Block[]): Block[] {
  const whole = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const cut = truncateHead(whole);
  if (!cut.truncated) return [...blocks];
  // Whole lines, unless one of them is so long that they would say next to nothing.
  const begin = cut.truncatedBy === "bytes" && cut.outputBytes < MAX_BYTES / 2 ? beginning(whole) : cut.content;
  const path = keep(whole);
  const size = `${formatSize(Buffer.byteLength(begin))} of ${formatSize(cut.totalBytes)}`;
  const where = path === undefined ? "" : ` Full output: ${path}`;
  return [
    text(`${begin}\n\n[Output cut: the first ${size} are shown.${where}]`),
    ...blocks.filter(({ type }) => type !== "text"),
  ];
}

/** Never half a character. */
function beginning(said: string): string {
  return Buffer.from(said)
    .subarray(0, MAX_BYTES)
    .toString("utf8")
    .replace(/\uFFFD+$/, "");
}

/** Where it can be read; undefined when the disk refuses. */
function keep(said: string): string | undefined {
  const bytes = Buffer.from(said);
  const buffer = createOutputBuffer({ keepBytes: bytes.length, spillAfterBytes: bytes.length });
  buffer.write(bytes);
  const path = buffer.spill();
  buffer.close("keep-file");
  return path;
}
