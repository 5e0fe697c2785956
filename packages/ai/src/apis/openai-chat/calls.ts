import { isRecord, textOf } from "../wire-values.ts";

/**
 * Which tool call a piece of the stream belongs to. The API says: the one with its `index`, which begins with an id and
 * a name and then sends arguments. Servers leave out the index or the id, send the id later, repeat the name, use one
 * index for all calls, or send whole calls at once. Everything that can be understood is.
 */

export interface Call {
  /** Of the block; -1 while it is not known well enough to be opened. */
  block: number;
  wireIndex: number | undefined;
  id: string;
  name: string;
  /** The arguments that came before the block was opened. */
  held: string;
}

export interface CallPiece {
  wireIndex: number | undefined;
  id: string;
  name: string;
  text: string;
}

/** A piece as it comes over the wire. Undefined when it is no object. */
export function readPiece(value: unknown): CallPiece | undefined {
  if (!isRecord(value)) return undefined;
  const { index, id, function: called } = value;
  const { name, arguments: args } = isRecord(called) ? called : {};
  return {
    wireIndex: typeof index === "number" ? index : undefined,
    id: textOf(id),
    name: textOf(name),
    text: argumentsText(args),
  };
}

/** Some servers send the arguments as the object they are. */
function argumentsText(args: unknown): string {
  if (typeof args === "string") return args;
  return typeof args === "object" && args !== null ? JSON.stringify(args) : "";
}

/** The call that the piece goes on with, or a new one. What was told first about a call stays. */
export function callFor(calls: Call[], piece: CallPiece): Call {
  const known = findCall(calls, piece);
  if (known) {
    known.id ||= piece.id;
    known.name ||= piece.name;
    return known;
  }
  const call: Call = { block: -1, wireIndex: piece.wireIndex, id: piece.id, name: piece.name, held: "" };
  calls.push(call);
  return call;
}

function findCall(calls: readonly Call[], piece: CallPiece): Call | undefined {
  const { wireIndex, id, name } = piece;
  if (wireIndex !== undefined) {
    const call = calls.findLast((each) => each.wireIndex === wireIndex);
    return call && !isAnother(call, piece) ? call : undefined;
  }
  const last = calls.at(-1);
  if (id === "") return name === "" ? last : undefined;
  return calls.findLast((each) => each.id === id) ?? (last?.id === "" && name === "" ? last : undefined);
}

/** One index for all calls: the next one begins with another id, or with another name where there are no ids. */
function isAnother(call: Call, { id, name }: CallPiece): boolean {
  if (name === "") return false;
  if (id !== "" && call.id !== "") return id !== call.id;
  return id === "" && call.id === "" && call.name !== "" && name !== call.name;
}

/** Ids tell the calls of an answer apart, also where a server gives none or the same to all. */
export function settleId(calls: readonly Call[], call: Call, responseId: string): void {
  const place = calls.indexOf(call);
  if (call.id === "") call.id = responseId === "" ? `call_${place}` : `call_${responseId}_${place}`;
  while (calls.some((other) => other !== call && other.block !== -1 && other.id === call.id)) call.id += `_${place}`;
}
