import { at } from "./frame.ts";
import { lineOf, type Node, type SourceFile } from "./source-tree.ts";

/** Sizes for people to look at. A number over the aim is a question, never a failure. */

const AIMS = { fileLines: 200, functionLines: 25, parameters: 4, publicMethods: 15, imports: 15 };
const WONDER = { fileLines: 400, functionLines: 60 };
const SHOWN = 8;

interface Measured {
  what: string;
  size: number;
}

const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

const largest = (items: Measured[], aim: number): Measured[] =>
  items.filter((item) => item.size > aim).sort((a, b) => b.size - a.size);

/** Each function with the name it is known by: its own, its variable's or its property's. */
function functionsOf(file: SourceFile): { name: string; node: Node }[] {
  const names = new Map<unknown, string>();
  const functions: { name: string; node: Node }[] = [];
  for (const node of file.nodes) {
    const value = node.type === "VariableDeclarator" ? node.init : node.value;
    const name = at(node, "id", "name") ?? at(node, "key", "name");
    if (value && typeof name === "string") names.set(value, name);
    if (FUNCTIONS.has(node.type)) {
      functions.push({ node, name: names.get(node) ?? (typeof name === "string" ? name : "(nameless)") });
    }
  }
  return functions;
}

const linesOf = (file: SourceFile, node: Node): number =>
  lineOf(file.text, node.end) - lineOf(file.text, node.start) + 1;

function publicMethods(file: SourceFile): Measured[] {
  const classes = file.nodes.filter((node) => node.type === "ClassDeclaration");
  return classes.map((node) => {
    const members = (at(node, "body", "body") ?? []) as Node[];
    const open = members.filter((member) => member.type === "MethodDefinition" && member.accessibility !== "private");
    return { what: `${file.path} ${at(node, "id", "name")}`, size: open.length };
  });
}

function casts(file: SourceFile): Measured {
  const nodes = file.nodes.filter((node) => node.type === "TSAsExpression");
  return {
    what: file.path,
    size: nodes.filter((node) => at(node, "typeAnnotation", "typeName", "name") !== "const").length,
  };
}

function section(title: string, items: Measured[], wonder = Number.POSITIVE_INFINITY): string[] {
  if (items.length === 0) return [];
  const rows = items
    .slice(0, SHOWN)
    .map(({ what, size }) => `  ${String(size).padStart(5)}${size > wonder ? " ?" : "  "} ${what}`);
  const more = items.length > SHOWN ? [`        and ${items.length - SHOWN} more`] : [];
  return [title, ...rows, ...more];
}

export function sizeReport(all: readonly SourceFile[]): string {
  const files = all.filter((file) => !file.path.endsWith(".generated.ts"));
  const lines = files.map((file) => ({ what: file.path, size: file.text.split("\n").length - 1 }));
  const functions = files.flatMap((file) => functionsOf(file).map((found) => ({ ...found, file })));
  const lengths = functions.map(({ file, name, node }) => ({
    what: `${file.path} ${name}`,
    size: linesOf(file, node),
  }));
  const parameters = functions.map(({ file, name, node }) => ({
    what: `${file.path} ${name}`,
    size: (node.params as unknown[]).length,
  }));
  const total = lines.reduce((sum, file) => sum + file.size, 0);
  return [
    `${files.length} source files, ${total} lines, ${functions.length} functions, ${sum(files.map(casts))} casts`,
    ...section(`files over ${AIMS.fileLines} lines`, largest(lines, AIMS.fileLines), WONDER.fileLines),
    ...section(
      `functions over ${AIMS.functionLines} lines`,
      largest(lengths, AIMS.functionLines),
      WONDER.functionLines,
    ),
    ...section(`functions of more than ${AIMS.parameters} parameters`, largest(parameters, AIMS.parameters)),
    ...section(
      `classes of more than ${AIMS.publicMethods} public methods`,
      largest(files.flatMap(publicMethods), AIMS.publicMethods),
    ),
    ...section(
      `files of more than ${AIMS.imports} imports`,
      largest(
        files.map((file) => ({ what: file.path, size: file.imports.length })),
        AIMS.imports,
      ),
    ),
  ].join("\n");
}

function sum(items: Measured[]): number {
  return items.reduce((total, item) => total + item.size, 0);
}
