import type { AgentTool } from "@tiller/agent/types";
import { wrongField } from "../lib/wrong-field.ts";
import type { HostUri, UriContent } from "../tools/tool.ts";

/** URL schemes of the host: what is registered, and what stands behind a URL of one of them. */
export interface HostUris {
  /** All at once: either these are the schemes of the host from now on, or everything stays as it was. */
  set(given: readonly unknown[], ask: AskHost): { schemes: string[] } | { refused: string };
  /** Undefined for everything that is no URL of the host. */
  find(path: string): HostUri | undefined;
  /** The tool as the model is told of it while there are such URLs. */
  described(tool: AgentTool): AgentTool;
}

/** Asks the host; rejects with what the model shall read when it comes to nothing. */
export type AskHost = (request: {
  operation: "read" | "write";
  url: string;
  content?: string;
  signal: AbortSignal;
  timeoutMs?: number;
}) => Promise<UriContent>;

interface Scheme {
  scheme: string;
  description: string;
  writable: boolean;
  immutable: boolean;
  timeoutMs?: number;
}

const SHAPE = /^[a-z][a-z0-9+.-]*$/;
/** Without the `@` of a mention. */
const URL_SHAPE = /^@?(([a-z][a-z0-9+.-]*):\/\/.*)$/is;
/** What the tools understand themselves. */
const RESERVED = ["file"];

export function createHostUris(): HostUris {
  let lent: { schemes: ReadonlyMap<string, Scheme>; ask: AskHost } | undefined;
  return {
    set(given, ask) {
      const schemes = readSchemes(given);
      if ("refused" in schemes) return schemes;
      lent = { schemes: new Map(schemes.map((one) => [one.scheme, one])), ask };
      return { schemes: schemes.map(({ scheme }) => scheme) };
    },
    find(path) {
      const [, url, name] = URL_SHAPE.exec(path) ?? [];
      const scheme = lent?.schemes.get(name?.toLowerCase() ?? "");
      return lent && scheme && url !== undefined ? hostUri(url, scheme, lent.ask) : undefined;
    },
    described(tool) {
      const told = lent && toldOf(tool.name, [...lent.schemes.values()]);
      return told ? { ...tool, description: `${tool.description} ${told}` } : tool;
    },
  };
}

function hostUri(url: string, { scheme, writable, timeoutMs }: Scheme, ask: AskHost): HostUri {
  return {
    url,
    scheme,
    isWritable: writable,
    read: (signal) => ask({ operation: "read", url, signal, timeoutMs }),
    write: (content, signal) => ask({ operation: "write", url, content, signal, timeoutMs }),
  };
}

function toldOf(tool: string, schemes: readonly Scheme[]): string | undefined {
  if (tool === "read") return listed("Also reads URLs of the host as path", schemes);
  if (tool !== "write") return undefined;
  return listed(
    "Also writes URLs of the host as path",
    schemes.filter(({ writable }) => writable),
  );
}

function listed(what: string, schemes: readonly Scheme[]): string | undefined {
  if (schemes.length === 0) return undefined;
  const each = schemes.map(({ scheme, description, immutable }) => {
    const facts = [description, immutable ? "never changes" : ""].filter((fact) => fact !== "").join("; ");
    return facts === "" ? `${scheme}://` : `${scheme}:// (${facts})`;
  });
  return `${what}: ${each.join(", ")}.`;
}

/** In their normal form; or what is wrong with the first that cannot be used. Pure. */
export function readSchemes(given: readonly unknown[]): Scheme[] | { refused: string } {
  const schemes: Scheme[] = [];
  for (const one of given) {
    const scheme = readScheme(one);
    if ("refused" in scheme) return scheme;
    if (schemes.some((other) => other.scheme === scheme.scheme)) {
      return { refused: `Host URI schemes must be unique: ${scheme.scheme}:// is there twice` };
    }
    schemes.push(scheme);
  }
  return schemes;
}

const OPTIONAL = {
  description: "text",
  writable: "yesOrNo",
  immutable: "yesOrNo",
  timeoutMs: "milliseconds",
} as const;

function readScheme(given: unknown): Scheme | { refused: string } {
  const fields = typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};
  const { timeoutMs } = fields;
  const written = text(fields.scheme);
  const scheme = written.toLowerCase();
  if (scheme === "") return { refused: "Host URI scheme must be a non-empty string" };
  if (!SHAPE.test(scheme)) return { refused: `Host URI scheme contains invalid characters: ${written}` };
  if (RESERVED.includes(scheme)) return { refused: `Host URI scheme is reserved by Tiller: ${scheme}://` };
  const wrong = wrongField(fields, OPTIONAL, `host URI scheme "${scheme}"`);
  if (wrong !== undefined) return { refused: wrong };
  return {
    scheme,
    description: text(fields.description),
    writable: fields.writable === true,
    immutable: fields.immutable === true,
    ...(typeof timeoutMs === "number" && { timeoutMs }),
  };
}

function text(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}
