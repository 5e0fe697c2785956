import type { SourceInfo } from "./places.ts";

/** What hosts are told about the texts that a prompt can call. Pure. */

/** An item of get_commands: `location` and `path` for older clients, `sourceInfo` for newer ones. */
export interface CommandItem {
  name: string;
  description?: string;
  source: "extension" | "prompt" | "skill";
  location?: "user" | "project" | "path";
  path?: string;
  sourceInfo?: Omit<SourceInfo, "baseDir"> & { baseDir?: string };
}

/** An item of get_available_commands. */
export interface AvailableCommand {
  name: string;
  description?: string;
  input?: { hint: string };
  source: CommandItem["source"];
}

/** What templates and skills have in common here. */
interface Listed {
  name: string;
  description: string;
  path: string;
  source: "user" | "project" | "path";
  sourceInfo: SourceInfo;
}

export interface CommandSources {
  /** Those of extensions; they come first. */
  extensions?: readonly CommandItem[];
  templates: readonly (Listed & { argumentHint?: string })[];
  /** Empty when skills are not offered as commands. */
  skills: readonly Listed[];
}

export function commandItems({ extensions = [], templates, skills }: CommandSources): CommandItem[] {
  return [
    ...extensions,
    ...notHidden(templates, extensions).map((template) => item(template, "prompt", template.name)),
    ...skills.map((skill) => item(skill, "skill", `skill:${skill.name}`)),
  ];
}

/** A command of an extension comes before a template of the same name. What is listed can be called. */
function notHidden<T extends Listed>(templates: readonly T[], extensions: readonly CommandItem[]): T[] {
  return templates.filter(({ name }) => !extensions.some((command) => command.name === name));
}

function item(listed: Listed, source: "prompt" | "skill", name: string): CommandItem {
  const { description, source: location, path, sourceInfo } = listed;
  return { name, description, source, location, path, sourceInfo };
}

export function availableCommands({ extensions = [], templates, skills }: CommandSources): AvailableCommand[] {
  return [
    ...extensions.map(({ name, description, source }): AvailableCommand => ({ name, description, source })),
    ...notHidden(templates, extensions).map(({ name, description, argumentHint: hint }): AvailableCommand => {
      const input = hint === undefined ? {} : { input: { hint } };
      return { name, description, ...input, source: "prompt" };
    }),
    ...skills.map(({ name, description }): AvailableCommand => {
      return { name: `skill:${name}`, description, source: "skill" };
    }),
  ];
}
