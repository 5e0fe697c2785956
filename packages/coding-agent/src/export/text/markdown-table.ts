/** The rows of a table in markdown. Pure. */

export interface Cell {
  text: string;
  align: "left" | "center" | "right" | undefined;
}

export function isDelimiterRow(line: string): boolean {
  return line.includes("-") && /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/.test(line);
}

/** What stands between the bars; `\|` is none. */
export function tableCells(line: string): Cell[] {
  const cells: string[] = [];
  let cell = "";
  const text = line.trim();
  for (let at = text.startsWith("|") ? 1 : 0; at < text.length; at += 1) {
    if (text[at] === "\\" && text[at + 1] === "|") {
      cell += "|";
      at += 1;
    } else if (text[at] === "|") {
      cells.push(cell);
      cell = "";
    } else cell += text[at];
  }
  if (cell.trim() !== "" || !text.endsWith("|")) cells.push(cell);
  return cells.map((content) => ({ text: content.trim(), align: alignOf(content.trim()) }));
}

function alignOf(text: string): Cell["align"] {
  if (!/^:?-+:?$/.test(text)) return undefined;
  const [left, right] = [text.startsWith(":"), text.endsWith(":")];
  return left && right ? "center" : right ? "right" : left ? "left" : undefined;
}
