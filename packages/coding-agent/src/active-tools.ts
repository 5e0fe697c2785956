import { lastMade } from "@tiller/ai/last-made";
import type { Model } from "@tiller/protocol/model";
import type { CliOptions } from "./cli-options.ts";
import { defaultToolNames, expandToolNames, isBuiltinTool, TOOL_ROWS } from "./tools/index.ts";

/** Which tools a model is offered. Asked anew for every call of a model, so a change counts from the next one on. */
export interface ActiveTools {
  names(model: Model): string[];
  /** From now on exactly these, presets allowed; undefined: what the command line said. Names that are no tools are given back. */
  set(names: readonly string[] | undefined): string[];
  /** A tool that came later is offered too, unless the command line has left it out. */
  add(name: string): void;
  /** It is offered, or could be: neither the command line nor whoever chose the tools has left it out. */
  mayOffer(name: string, model: Model): boolean;
}

type ToolOptions = Pick<CliOptions, "tools" | "excludeTools" | "noTools" | "noBuiltinTools">;

/** The tools that are not built in. */
export interface Others {
  /** Built in, and offered beside those that always are. */
  usual: readonly string[];
  /** What a setting has put in the place of all these. */
  chosen?: readonly string[];
  /** Those of extensions, all of which are offered. */
  added(): readonly string[];
  /** Those of the host that are offered, whatever the command line says. */
  lent(): readonly string[];
  /** There is a tool of this name, built in or not. */
  exists(name: string): boolean;
}

const NO_OTHERS: Others = { usual: [], added: () => [], lent: () => [], exists: isBuiltinTool };

export function createActiveTools(options: ToolOptions, others: Others = NO_OTHERS): ActiveTools {
  let chosen: string[] | undefined;
  const { exists } = others;
  const atStart = lastMade((provider: string, ...added: string[]) => startTools(options, provider, others, added));
  // A tool that was chosen may have gone with its extension, or with its host.
  const offered = (model: Model): string[] => {
    const names = chosen ?? [...atStart(model.provider, ...others.added()), ...others.lent()];
    // An extension may have come later with a tool of a name that the host has lent; no provider takes a name twice.
    return [...new Set(names)].filter(exists);
  };
  return {
    names: offered,
    set(names) {
      const wanted = names && expandToolNames(names);
      chosen = wanted?.filter(exists);
      return wanted?.filter((name) => !exists(name)) ?? [];
    },
    add(name) {
      if (!chosen || chosen.includes(name)) return;
      if (!isAllowed(options, name) && !others.lent().includes(name)) return;
      chosen = [...chosen, name];
    },
    mayOffer(name, model) {
      if (offered(model).includes(name)) return true;
      if (chosen || !isBuiltinTool(name) || options.noBuiltinTools) return false;
      return isAllowed(options, name);
    },
  };
}

/** What the command line allows; else pi's four with those of the extensions, and for the offline model what it needs to look around. */
function startTools(
  options: ToolOptions,
  provider: string,
  { usual, chosen }: Others,
  added: readonly string[],
): string[] {
  const named = options.tools && expandToolNames(options.tools);
  if (named) {
    const excluded = options.noTools || options.noBuiltinTools ? [] : expandToolNames(options.excludeTools ?? []);
    return named.filter((name) => !excluded.includes(name));
  }
  const extras = provider === "offline" ? ["ls", "find", "grep"] : [];
  const offered = chosen ? expandToolNames(chosen) : [...defaultToolNames(), ...usual, ...extras];
  const builtin = options.noTools || options.noBuiltinTools ? [] : offered;
  return [...new Set([...builtin, ...added])].filter((name) => isAllowed(options, name));
}

function isAllowed(options: ToolOptions, name: string): boolean {
  if (options.tools) return expandToolNames(options.tools).includes(name);
  if (options.noTools || expandToolNames(options.excludeTools ?? []).includes(name)) return false;
  return true;
}

/** For stderr: what was named and is no tool. */
export function unknownTools(
  options: ToolOptions,
  others: readonly string[] = [],
  missing: readonly string[] = [],
): string[] {
  const given = [...(options.tools ?? []), ...(options.excludeTools ?? [])];
  // Which tools MCP servers have is known when they have started.
  const isKnown = (name: string): boolean => isBuiltinTool(name) || others.includes(name) || name.startsWith("mcp__");
  const unknown = expandToolNames(given).filter((name) => !isKnown(name));
  const off = (options.tools ?? []).filter((name) => missing.includes(name) && !others.includes(name));
  return [
    ...unknown.map((name) => `there is no tool "${name}"; it is left out`),
    ...off.map((name) => `the tool "${name}" needs --set ${TOOL_ROWS.get(name)?.needs}=true; it is left out`),
  ];
}
