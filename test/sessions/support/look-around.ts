import { existsSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { at, brief, type Frame, list } from "../../support/frame.ts";
import type { RpcProcess } from "../../support/rpc-process.ts";
import {
  conversationAt,
  cutOffCalls,
  endsInMidRun,
  type FileContent,
  messagesIn,
  pathTo,
  readSessionFile,
  treeProblems,
} from "./session-tree.ts";

/** What must hold for a process that opens the file of one that was killed. */

/** What the host was told of a file by all processes so far. */
export interface Told {
  messages: unknown[];
  /** Of commands that were answered: fields that an entry of the file must have. */
  answered: Frame[];
  /** That are kept to be told again. */
  events: Frame[];
}

/** Where the crash happened. */
export interface Place {
  path: string;
  told: Map<string, Told>;
  /** What it has left in the file; undefined when it left none. */
  left: FileContent | undefined;
}

export const hasFields = (entry: Frame, fields: Frame): boolean =>
  Object.entries(fields).every(([name, value]) => isDeepStrictEqual(entry[name], value));

function expectNone(problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(problems.slice(0, 5).join("\n"));
}

/** Throws what is wrong. Tells whether a run was cut off. */
export async function lookAround(rpc: RpcProcess, place: Place): Promise<boolean> {
  const { path, left, told } = place;
  const state = await dataOf(rpc, "get_state");
  const { entries, leafId } = (await dataOf(rpc, "get_entries")) as { entries: Frame[]; leafId: unknown };
  const messages = list((await dataOf(rpc, "get_messages")).messages);
  const wasCut = endsInMidRun(left?.entries ?? []);
  expectNone([
    ...(state.sessionFile === path ? [] : [`the session file is ${state.sessionFile}`]),
    ...((state.lastRunInterrupted === true) === wasCut ? [] : [`lastRunInterrupted is ${state.lastRunInterrupted}`]),
    ...treeProblems(entries, leafId),
    ...lost(entries, told.get(path)),
    ...otherFiles(place),
    ...conversationProblems(messages, conversationAt(entries, leafId)),
    ...closingProblems(entries, leafId, left),
    ...damageProblems(rpc, place),
  ]);
  await promptWorks(rpc, path);
  return wasCut;
}

async function dataOf(rpc: RpcProcess, type: string): Promise<Frame> {
  const answer = await rpc.call({ type });
  if (answer.success !== true) throw new Error(`${type} is refused: ${brief(answer)}`);
  return answer.data as Frame;
}

function lost(entries: readonly Frame[], told: Told | undefined): string[] {
  const kept = messagesIn(entries);
  const messages = (told?.messages ?? []).filter((message) => !kept.some((one) => isDeepStrictEqual(one, message)));
  const answered = (told?.answered ?? []).filter((fields) => !entries.some((entry) => hasFields(entry, fields)));
  return [
    ...messages.map((message) => `lost although it was announced: ${brief(message)}`),
    ...answered.map((fields) => `lost although it was answered: ${brief(fields)}`),
  ];
}

/** Sessions that were left for another one are complete as well. */
function otherFiles({ told, path }: Place): string[] {
  return [...told].flatMap(([other, known]) => {
    if (other === path) return [];
    if (!existsSync(other)) return known.messages.length === 0 ? [] : [`${other} does not exist`];
    const { entries, torn } = readSessionFile(other);
    return [...(torn === "" ? [] : [`${other} ends in a torn line`]), ...lost(entries, known)];
  });
}

function conversationProblems(messages: readonly unknown[], expected: readonly unknown[]): string[] {
  const isSame = (one: unknown, other: unknown): boolean =>
    at(other, "role") === "compactionSummary" ? at(one, "role") === "compactionSummary" : isDeepStrictEqual(one, other);
  const told = messages.filter((message) => at(message, "role") !== "branchSummary");
  const at0 = expected.findIndex((message, i) => !isSame(told[i], message));
  if (at0 < 0 && told.length === expected.length) return [];
  return [`get_messages has ${told.length}, the tree ${expected.length}; they differ at ${at0}: ${brief(told[at0])}`];
}

/** A call that was cut off has a result that says so. */
function closingProblems(entries: readonly Frame[], leafId: unknown, left: FileContent | undefined): string[] {
  const added = entries.slice(left?.entries.length ?? 0).map(({ message }) => message);
  return cutOffCalls(left?.entries ?? []).flatMap((id) => {
    const result = added.find((message) => at(message, "toolCallId") === id);
    const says = String(at(result, "content", 0, "text"));
    const isRight = at(result, "isError") === true && says.startsWith("Interrupted");
    const isOnPath = pathTo(entries, leafId).some(({ message }) => message === result);
    return isRight && isOnPath ? [] : [`the result of the cut-off call ${id} is ${brief(result)}`];
  });
}

function damageProblems(rpc: RpcProcess, { path, left }: Place): string[] {
  const notices = rpc.frames.filter(({ type }) => type === "notice").map(({ message }) => String(message));
  const aside = `${path}.damaged`;
  const kept = existsSync(aside) ? readFileSync(aside, "utf8") : "";
  if (!left || left.torn === "") return notices.map((text) => `nothing is wrong, and yet: ${text}`);
  return [
    ...(kept.includes(left.torn) ? [] : [`the torn line is not in ${aside}`]),
    ...(notices.length === 1 && notices[0]?.includes(path) ? [] : [`a torn line was told by ${brief(notices)}`]),
  ];
}

async function promptWorks(rpc: RpcProcess, path: string): Promise<void> {
  const { result, frames } = await rpc.prompt("go on");
  const { entries, torn } = readSessionFile(path);
  const announced = frames.filter(({ type }) => type === "message_end").map(({ message }) => message);
  expectNone([
    ...(result.status === "completed" ? [] : [`the next prompt ended ${brief(result)}`]),
    ...(torn === "" ? [] : ["the file ends in a torn line after the next prompt"]),
    ...lost(entries, { messages: announced, answered: [], events: [] }),
    ...treeProblems(entries, entries.at(-1)?.id),
    ...rpc.frames.filter(({ type, level }) => type === "notice" && level === "error").map((frame) => brief(frame)),
  ]);
}
