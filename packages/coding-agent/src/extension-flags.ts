import { type RunArgs, unknownText } from "./args.ts";
import type { FlagDefinition } from "./extensions/extension.ts";

export interface TakenFlags {
  values: Map<string, boolean | string>;
  /** What nobody knows or what has no value, one sentence each. */
  refused: string[];
}

/** Gives the options that only extensions know to those that know them. A word that is a value is no prompt any more. */
export function takeFlags(run: RunArgs, flags: ReadonlyMap<string, FlagDefinition>): TakenFlags {
  const values: TakenFlags["values"] = new Map();
  const refused: string[] = [];
  for (const { option, attached, following } of run.unknown) {
    const name = option.slice(2);
    const flag = flags.get(name);
    if (!flag) refused.push(unknownText(option, run.dialect));
    else if (flag.type === "boolean") values.set(name, attached !== "false");
    else if (attached !== undefined) values.set(name, attached);
    else if (following === undefined) refused.push(`Error: ${option} needs a value: ${option}=VALUE`);
    else {
      values.set(name, following);
      const at = run.prompts.indexOf(following);
      if (at >= 0) run.prompts.splice(at, 1);
    }
  }
  return { values, refused };
}
