import { type LineProblem, verifyLines } from "../session/store/verify.ts";
import { counted, oneLine } from "./plain-text.ts";
import { readWhole } from "./read-whole.ts";

/** What came of looking through one file. */
export interface FileCheck {
  path: string;
  ok: boolean;
  /** Why the file could not be looked at. */
  error?: string;
  damage: LineProblem[];
  oddities: LineProblem[];
}

export function checkFile(path: string): FileCheck {
  try {
    const { damage, oddities } = verifyLines(readWhole(path));
    return { path, ok: damage.length === 0, damage, oddities };
  } catch (error) {
    return { path, ok: false, error: (error as Error).message, damage: [], oddities: [] };
  }
}

export function checksText(checks: readonly FileCheck[]): string {
  const bad = checks.filter(({ ok }) => !ok).length;
  const verdict =
    bad === 0
      ? `${counted(checks.length, "file")}, all whole.`
      : `${bad} of ${counted(checks.length, "file")} damaged.`;
  const hint = checks.some(({ damage }) => damage.length > 0) ? ["`tiller sessions repair PATH` mends a file."] : [];
  return [...checks.flatMap(checkLines), ...(checks.length > 0 ? [""] : []), verdict, ...hint].join("\n");
}

const LONGEST_REASON = 160;
const MOST_LINES = 20;

function checkLines({ path, ok, error, damage, oddities }: FileCheck): string[] {
  const problems = [...damage.map((problem) => ["x", problem] as const), ...oddities.map((odd) => ["!", odd] as const)];
  const lines = problems
    .slice(0, MOST_LINES)
    .map(([mark, { line, why }]) => `      ${mark} line ${line}: ${oneLine(why, LONGEST_REASON)}`);
  const more = problems.length - lines.length;
  return [
    `  ${ok ? "ok" : "x "}  ${path}`,
    ...(error === undefined ? [] : [`      ${oneLine(error, LONGEST_REASON)}`]),
    ...lines,
    ...(more > 0 ? [`      and ${more} more`] : []),
  ];
}
