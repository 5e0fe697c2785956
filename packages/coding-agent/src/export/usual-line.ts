import type { EntryRow } from "./entry-row.ts";
import { KINDS } from "./html/format.ts";

/** The beginning of a message as this program and pi write it. */
const HEAD =
  /\{"type":"message","id":"([^"\\]{1,64})","parentId":(?:"([^"\\]{1,64})"|null),"timestamp":"([^"\\]{1,40})","message":\{"role":"(user|assistant|toolResult)",/y;
const MODEL = /"provider":"([^"\\]*)","model":"([^"\\]*)",/y;
const AMOUNTS = [..."input output cacheRead cacheWrite".split(" ")].map((name) => `"${name}":`);
const SPENT = new RegExp(
  String.raw`"usage":\{${AMOUNTS.map((name) => String.raw`${name}(\d+),`).join("")}(?:"\w+":\d+,)+` +
    String.raw`"cost":\{${AMOUNTS.map((name) => String.raw`${name}[\d.e-]+,`).join("")}"total":([\d.e-]+)\}`,
  "y",
);

/** Inside of a text its quotes would be escaped: a second one means that a line was torn and joined with the next. */
const ANOTHER = '{"type":"message","id":"';
/** Pictures are shown in another size than their text has. */
const IMAGE = '"type":"image"';

/**
 * Reads off a line what the index needs, without parsing it: that takes most of the time that reading a session takes.
 * Undefined for every line that is not laid out as usual or may be damaged; that one has to be parsed.
 */
export function readUsualLine(line: string): EntryRow | undefined {
  const head = match(HEAD, line, 0);
  if (!head || !line.endsWith("}}") || line.includes(ANOTHER, 1) || line.includes(IMAGE)) return undefined;
  const [, id = "", parentId = null, timestamp = "", role = ""] = head;
  const time = Date.parse(timestamp);
  if (Number.isNaN(time)) return undefined;
  const row: EntryRow = {
    id,
    parentId,
    kind: KINDS.indexOf(role as (typeof KINDS)[number]),
    time,
    timestamp,
    lines: roughLines(line),
    model: undefined,
    usage: undefined,
  };
  return role !== "assistant" || addAnswer(row, line) ? row : undefined;
}

/** What an answer has cost, and whose it is, stands behind its content. */
function addAnswer(row: EntryRow, line: string): boolean {
  const at = line.lastIndexOf('"usage":{');
  const provider = line.lastIndexOf('"provider":"', at);
  const model = provider < 0 ? null : match(MODEL, line, provider);
  const spent = at < 0 ? null : match(SPENT, line, at);
  if (!model || !spent || MODEL.lastIndex !== at) return false;
  row.model = `${model[1]}/${model[2]}`;
  row.usage = [Number(spent[1]), Number(spent[2]), Number(spent[3]), Number(spent[4]), Number(spent[5])];
  return row.usage.every(Number.isFinite);
}

function match(pattern: RegExp, line: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(line);
}

/** Characters of a line that is shown, and those of an entry that are not. */
const SHOWN_LINE = 90;
const AROUND_TEXT = 250;
const MOST_LINES = 400;

function roughLines(line: string): number {
  let lines = 1 + Math.max(0, Math.floor((line.length - AROUND_TEXT) / SHOWN_LINE));
  for (let at = line.indexOf("\\n"); at >= 0 && lines < MOST_LINES; at = line.indexOf("\\n", at + 2)) lines += 1;
  return Math.min(lines, MOST_LINES);
}
