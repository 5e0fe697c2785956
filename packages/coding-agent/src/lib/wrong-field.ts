/** What a host writes by hand: an optional field of another type is told, not taken for absent. `null` means absent. */

const WORDS_FOR_NO: ReadonlySet<unknown> = new Set([0, "", "false"]);

const KINDS = {
  text: { fits: (value: unknown) => typeof value === "string", is: "a string" },
  // What other languages say for no is no: a result is not thrown away for that.
  yesOrNo: { fits: (value: unknown) => typeof value === "boolean" || WORDS_FOR_NO.has(value), is: "true or false" },
  milliseconds: {
    fits: (value: unknown) => typeof value === "number" && value > 0,
    is: "a number of milliseconds above 0",
  },
} as const;

type Kinds = Readonly<Record<string, keyof typeof KINDS>>;

/** What is wrong with the first of these fields that does not fit. `of` names whose they are. Pure. */
export function wrongField(fields: Readonly<Record<string, unknown>>, kinds: Kinds, of = ""): string | undefined {
  for (const [name, kind] of Object.entries(kinds)) {
    const value = fields[name];
    if (value === undefined || value === null || KINDS[kind].fits(value)) continue;
    return `"${name}" ${of === "" ? "" : `of ${of} `}must be ${KINDS[kind].is}, got ${shown(value)}`;
  }
  return undefined;
}

/** What is wrong with a text that names nothing. Pure. */
export function blankField(name: string, value: string, expected: string): string | undefined {
  return value.trim() === "" ? `"${name}" must be ${expected}, got ${JSON.stringify(value)}` : undefined;
}

const LONGEST_QUOTE = 60;

/** It may come from a program, and be anything. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  return typeof value === "string"
    ? JSON.stringify(value.slice(0, LONGEST_QUOTE))
    : String(value).slice(0, LONGEST_QUOTE);
}
