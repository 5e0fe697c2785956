import { lastMade } from "./last-made.ts";
import type { Delta, DeltaStream, ModelRequest, StreamModel } from "./provider.ts";

/** Names of tools as every provider takes them. One wrong name, and the whole request is refused. */

export function isPlainName(name: string): boolean {
  return /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(name);
}

export function plainName(name: string): string {
  if (isPlainName(name)) return name;
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_") || "unknown";
  return (/^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`).slice(0, 64);
}

/** The provider hears and says plain names; whoever asks keeps those that the tools really have. */
export function withPlainNames(stream: StreamModel): StreamModel {
  return (request) => {
    const { tools, own } = toldTools(...request.tools);
    return own.size === 0 ? stream(request) : underOwnNames(stream({ ...request, tools }), own);
  };
}

interface Told {
  tools: ModelRequest["tools"];
  /** By the plain name, where it is another one. */
  own: ReadonlyMap<string, string>;
}

/** The same tools are the same objects in every request: the families know them again. */
const toldTools = lastMade((...tools: ModelRequest["tools"]): Told => {
  const own = new Map<string, string>();
  const taken = new Set(tools.map(({ name }) => name));
  const told = tools.map((tool) => {
    const name = plainName(tool.name);
    // Of two that would have one name the later keeps its own: the provider's refusal then names it.
    if (taken.has(name)) return tool;
    taken.add(name);
    own.set(name, tool.name);
    return { ...tool, name };
  });
  return { tools: told, own };
});

async function* underOwnNames(
  stream: DeltaStream,
  own: Told["own"],
): AsyncGenerator<readonly Delta[], void, undefined> {
  for await (const batch of stream) yield batch.map((delta) => underOwnName(delta, own));
}

function underOwnName(delta: Delta, own: Told["own"]): Delta {
  if (delta.type !== "open" || delta.block.type !== "toolCall") return delta;
  const name = own.get(delta.block.name);
  return name === undefined ? delta : { ...delta, block: { ...delta.block, name } };
}
