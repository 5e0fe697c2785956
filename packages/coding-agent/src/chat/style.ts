import { STEERING } from "../lib/visible.ts";

/** How a terminal is asked to show something. */
export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

const CODES = { dim: 2, bold: 1, red: 31, green: 32, yellow: 33 } as const;

export function createStyle(hasColours: boolean): Style {
  const paint = (code: number) => (text: string) =>
    hasColours && text !== "" ? `\u001b[${code}m${text}\u001b[0m` : text;
  return {
    dim: paint(CODES.dim),
    bold: paint(CODES.bold),
    red: paint(CODES.red),
    green: paint(CODES.green),
    yellow: paint(CODES.yellow),
  };
}

/** What a model or a tool has written, without what could steer the terminal. */
export function harmless(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const still = text.replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "");
  return still.replaceAll(STEERING, "").replaceAll("\r\n", "\n");
}

/** One line of at most `length` characters. */
export function brief(text: string, length: number): string {
  const line = harmless(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= length ? line : `${line.slice(0, length - 3)}...`;
}
