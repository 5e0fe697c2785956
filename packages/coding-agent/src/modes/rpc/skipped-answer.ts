/**
 * An answer of the host that is longer than a line may be is never read; whoever asked must not wait for it. What was
 * asked is recovered from the beginning of the line. Pure; loaded when such a line comes.
 */

type Frame = Record<string, unknown>;

/** By the type of the answer: what is taken in its place. Progress that is not read costs only itself. */
const IN_PLACE: Readonly<Record<string, (reason: string) => Frame>> = {
  host_tool_result: (reason) => ({ isError: true, result: { content: [{ type: "text", text: reason }] } }),
  host_uri_result: (reason) => ({ isError: true, error: reason }),
  extension_ui_response: () => ({ cancelled: true }),
};

/**
 * What takes the place of the answer that begins like this: nothing when it is none, or does not say in its beginning
 * which. Where the type stands behind the long part there is one for each type, and only who has asked with this id
 * takes it.
 */
export function inPlaceOf(begin: string, reason: string): (Frame & { type: string })[] {
  const { id, type, partialResult } = firstFields(begin);
  if (typeof id !== "string" || partialResult !== undefined) return [];
  const types = type === undefined ? Object.keys(IN_PLACE) : Object.keys(IN_PLACE).filter((one) => one === type);
  return types.map((one) => ({ type: one, id, ...IN_PLACE[one]!(reason) }));
}

const FIELD = /\s*("(?:[^"\\]|\\.)*")\s*:\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null)?\s*(,?)/y;

/** The fields at the beginning of an object, up to the first whose value is no short one: of that only the name is told. */
function firstFields(begin: string): Frame {
  const fields: Frame = {};
  const brace = /^\uFEFF?\s*\{/.exec(begin);
  if (!brace) return fields;
  FIELD.lastIndex = brace[0].length;
  for (;;) {
    const [, name, value, comma] = FIELD.exec(begin) ?? [];
    if (name === undefined) return fields;
    fields[parsed(name)] = value !== undefined && comma === "," ? parsed(value) : LONG;
    if (fields[parsed(name)] === LONG) return fields;
  }
}

const LONG = Symbol("a value that does not end in the beginning");

function parsed(json: string) {
  try {
    return JSON.parse(json);
  } catch {
    return LONG;
  }
}
