import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "rolldown/utils";
import { isRecord } from "./frame.ts";

/** The sources of all packages, parsed, for tests about the sources themselves. */

export interface Import {
  specifier: string;
  /** Our own file, as a path from the root of the repository; undefined for packages and builtins. */
  target: string | undefined;
  /** `static` is loaded with the file, `lazy` by `import()`, `type` never. */
  kind: "static" | "lazy" | "type";
  line: number;
}

export interface SourceFile {
  /** From the root of the repository, with slashes. */
  path: string;
  text: string;
  /** Parents before children; many rules look at each of them. */
  nodes: readonly Node[];
  imports: Import[];
}

export type Node = Record<string, unknown> & { type: string; start: number; end: number };

export const repoRoot = join(dirname(fileURLToPath(import.meta.url)), "../..");

const PACKAGE_FOLDERS: Record<string, string> = {
  "@tiller/protocol": "packages/protocol",
  "@tiller/ai": "packages/ai",
  "@tiller/agent": "packages/agent",
};

export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function isNode(value: unknown): value is Node {
  return isRecord(value) && typeof value.type === "string" && typeof value.start === "number";
}

/** The node and every one below, parents before children. */
function walk(node: Node, found: Node[] = []): Node[] {
  found.push(node);
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) {
      for (const child of value) if (isNode(child)) walk(child, found);
    } else if (isNode(value)) walk(value, found);
  }
  return found;
}

function isTypeOnly(node: Node): boolean {
  if (node.importKind === "type" || node.exportKind === "type") return true;
  const specifiers = node.specifiers as Node[] | undefined;
  if (!specifiers || specifiers.length === 0) return false;
  return specifiers.every((specifier) => specifier.importKind === "type" || specifier.exportKind === "type");
}

const IMPORT_KINDS: Record<string, (node: Node) => Import["kind"]> = {
  ImportDeclaration: (node) => (isTypeOnly(node) ? "type" : "static"),
  ExportNamedDeclaration: (node) => (isTypeOnly(node) ? "type" : "static"),
  ExportAllDeclaration: (node) => (isTypeOnly(node) ? "type" : "static"),
  ImportExpression: () => "lazy",
  TSImportType: () => "type",
};

function resolveImport(from: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(from), specifier);
  const match = /^(@tiller\/\w+)(?:\/(.+))?$/.exec(specifier);
  const folder = match && PACKAGE_FOLDERS[match[1] as string];
  return folder ? `${folder}/src/${match[2] ?? "index"}.ts` : undefined;
}

function importsOf(path: string, text: string, nodes: readonly Node[]): Import[] {
  const imports: Import[] = [];
  for (const node of nodes) {
    const kind = IMPORT_KINDS[node.type]?.(node);
    const source = node.source;
    if (!kind || !isNode(source) || typeof source.value !== "string") continue;
    const target = resolveImport(path, source.value);
    imports.push({ specifier: source.value, target, kind, line: lineOf(text, node.start) });
  }
  return imports;
}

export function parseSource(path: string, text: string): SourceFile {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const nodes = walk(program as unknown as Node);
  return { path, text, nodes, imports: importsOf(path, text, nodes) };
}

/** All sources of the packages, tests left out. */
export function readSources(): SourceFile[] {
  const files: SourceFile[] = [];
  for (const entry of readdirSync(join(repoRoot, "packages"), { recursive: true, withFileTypes: true })) {
    const full = join(entry.parentPath, entry.name);
    const path = relative(repoRoot, full).split(sep).join("/");
    const isSource = /^packages\/[\w-]+\/src\/.*\.ts$/.test(path) && !/\.(test|d)\.ts$/.test(path);
    if (entry.isFile() && isSource) files.push(parseSource(path, readFileSync(full, "utf8")));
  }
  return files.sort((a, b) => a.path.localeCompare(b.path));
}
