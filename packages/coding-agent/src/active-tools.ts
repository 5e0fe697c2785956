import type { Model } from "@tiller/protocol/model";
import type { CliOptions } from "./cli-options.ts";
import { defaultToolNames, expandToolNames, isBuiltinTool } from "./tools/index.ts";

/** Which tools a model is offered. Asked anew for every call of a model, so a change counts from the next one on. */
export interface ActiveTools {
  names(model: Model): string[];
  /** From now on exactly these, presets allowed; undefined: what the command line said. Names that are no tools are given back. */
  set(names: readonly string[] | undefined): string[];
}

type ToolOptions = Pick<CliOptions, "tools" | "excludeTools" | "noTools" | "noBuiltinTools">;

export function createActiveTools(options: ToolOptions): ActiveTools {
  let chosen: string[] | undefined;
  return {
    names: (model) => chosen ?? startTools(options, model),
    set(names) {
      const wanted = names && expandToolNames(names);
      chosen = wanted?.filter(isBuiltinTool);
      return wanted?.filter((name) => !isBuiltinTool(name)) ?? [];
    },
  };
}

/** What the command line allows; else pi's four, and for the offline model what it needs to look around. */
function startTools(options: ToolOptions, model: Model): string[] {
  const named = options.tools && expandToolNames(options.tools).filter(isBuiltinTool);
  if (options.noTools || options.noBuiltinTools) return named ?? [];
  const extras = model.provider === "offline" ? ["ls", "find", "grep"] : [];
  const excluded = expandToolNames(options.excludeTools ?? []);
  return (named ?? [...defaultToolNames(), ...extras]).filter((name) => !excluded.includes(name));
}

/** For stderr: what was named and is no tool. */
export function unknownTools(options: ToolOptions): string[] {
  const named = expandToolNames([...(options.tools ?? []), ...(options.excludeTools ?? [])]);
  return named.filter((name) => !isBuiltinTool(name)).map((name) => `there is no tool "${name}"; it is left out`);
}
