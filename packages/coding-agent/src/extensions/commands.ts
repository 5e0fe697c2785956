import type { CommandDefinition, Extension } from "./extension.ts";

/** A command as it can be called. */
export interface ExtensionCommand {
  /** With a number behind it when several extensions have one of this name. */
  name: string;
  extension: Extension;
  definition: CommandDefinition;
}

/** In the order in which they were registered. Of the same name all are kept: `review:1`, `review:2`. */
export function commandsOf(extensions: readonly Extension[]): ExtensionCommand[] {
  const all = extensions.flatMap((extension) =>
    [...extension.commands].map(([name, definition]) => ({ name, extension, definition })),
  );
  const count = new Map<string, number>();
  for (const { name } of all) count.set(name, (count.get(name) ?? 0) + 1);
  const used = new Map<string, number>();
  return all.map((command) => {
    const { name } = command;
    if (count.get(name) === 1) return command;
    const number = (used.get(name) ?? 0) + 1;
    used.set(name, number);
    return { ...command, name: `${name}:${number}` };
  });
}

/** `/name rest`: the command of that name and what stands behind it. */
export function calledCommand(
  text: string,
  commands: readonly ExtensionCommand[],
): { command: ExtensionCommand; args: string } | undefined {
  if (!text.startsWith("/")) return undefined;
  const space = text.search(/\s/);
  const name = text.slice(1, space < 0 ? undefined : space);
  const command = commands.find((candidate) => candidate.name === name);
  return command && { command, args: space < 0 ? "" : text.slice(space + 1) };
}
