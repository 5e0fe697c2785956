import { isRecord } from "./answers.ts";

/** A name that stands for another model, which is looked up when it is asked. */
export interface VirtualModel {
  provider: string;
  id: string;
  name: string;
  /** The model it stands for, as it is said when it is asked. */
  target(): unknown;
  /** What it says of itself; the rest is as with the model that it stands for now. */
  fields: Readonly<Record<string, unknown>>;
}

const PROVIDER = "virtual";

/** `{ id, provider?, name?, model }`, where `model` is "provider/id", such an object, or a function that gives one of these. */
export function virtualModelOf(given: unknown): VirtualModel | { problem: string } {
  if (!isRecord(given)) return { problem: "a virtual model is an object with an id and a model" };
  const { id, provider = PROVIDER, name, model, target = model, ...fields } = given;
  if (typeof id !== "string" || id === "") return { problem: "a virtual model needs an id" };
  if (typeof provider !== "string" || provider === "") return { problem: "the provider of a virtual model is a text" };
  const isNamed = typeof target === "function" || namedModel(target) !== undefined;
  if (!isNamed) {
    return { problem: `the virtual model "${id}" does not say which model it stands for: model must be "provider/id"` };
  }
  return {
    provider,
    id,
    name: typeof name === "string" ? name : id,
    target: () => (typeof target === "function" ? (Reflect.apply(target, given, []) as unknown) : target),
    fields,
  };
}

/** From what an extension says to the two parts of a name. Ids may have slashes, providers do not. */
export function namedModel(value: unknown): { provider: string; id: string } | undefined {
  if (isRecord(value)) {
    const { provider, id } = value;
    return typeof provider === "string" && typeof id === "string" ? { provider, id } : undefined;
  }
  const slash = typeof value === "string" ? value.indexOf("/") : -1;
  if (typeof value !== "string" || slash < 1 || slash === value.length - 1) return undefined;
  return { provider: value.slice(0, slash), id: value.slice(slash + 1) };
}
