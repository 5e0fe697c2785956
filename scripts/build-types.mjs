// The types of what programs import, as .d.ts files: one per source file that the public ones lead to. Each is made from
// its own text alone, which is fast, and needs every exported name to have its type written down.
//
// The modules of the protocol infer theirs from schemas. Users shall not need the schema library for that, so those lead
// to plain-types.generated.ts, which has the same types spelled out.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { isolatedDeclarationSync } from "oxc-transform";

const PLAIN_TYPES = "packages/protocol/src/plain-types.generated.ts";
const CLIENT = "packages/coding-agent/src/client/";
const SPECIFIER = /((?:from|import\()\s*")([^"]+)(")/g;

/** A path below the root for what a file of ours imports; undefined for node: and packages. */
function targetOf(from, specifier) {
  if (specifier.startsWith(".")) return join(dirname(from), specifier);
  const [, name, rest] = /^@tiller\/([\w-]+)(?:\/(.+))?$/.exec(specifier) ?? [];
  return name && `packages/${name}/src/${rest ?? "index"}.ts`;
}

/** `packages/ai/src/http/sse.ts` becomes `ai/http/sse.d.ts`. */
function placeOf(path) {
  return path.replace(/^packages\/([\w-]+)\/src\//, "$1/").replace(/\.ts$/, ".d.ts");
}

/** With the names of the generated types in the place of the inferred ones. */
function plainModule(path, text) {
  const names = [...text.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name);
  const from = relative(dirname(path), PLAIN_TYPES);
  return `export type { ${[...new Set(names)].join(", ")} } from "${from.startsWith(".") ? from : `./${from}`}";\n`;
}

function declarationsOf(path, text, plain) {
  if (path.startsWith("packages/protocol/") && /from "typebox"/.test(text)) {
    const missing = [...text.matchAll(/^export (?:type|interface) (\w+)/gm)].filter(([, name]) => !plain.has(name));
    return plainModule(
      path,
      missing.reduce((rest, [line]) => rest.replace(line, ""), text),
    );
  }
  const { code, errors } = isolatedDeclarationSync(path, text);
  if (errors.length === 0) return code;
  throw new Error(
    `the types of ${path} cannot be told from its text alone:\n${errors.map((e) => e.codeframe ?? e.message).join("\n")}`,
  );
}

/** Whoever steers an agent with the client reads nothing of the agent for it. */
function refuseStranger(path, target) {
  if (!path.startsWith(CLIENT) || target.startsWith(CLIENT) || target === PLAIN_TYPES) return;
  throw new Error(`the types of ${path} need ${target}; those of the client stand for themselves`);
}

export async function buildTypes({ root, entries, outDir }) {
  const read = (path) => readFile(join(root, path), "utf8");
  const plain = new Set(
    [...(await read(PLAIN_TYPES)).matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name),
  );
  const files = new Map();
  const todo = [...entries];
  for (let path = todo.pop(); path !== undefined; path = todo.pop()) {
    if (files.has(path)) continue;
    const code = declarationsOf(path, await read(path), plain).replace(SPECIFIER, (whole, head, specifier, tail) => {
      const target = targetOf(path, specifier);
      refuseStranger(path, target ?? specifier);
      if (target === undefined) return whole;
      todo.push(target);
      const to = relative(dirname(placeOf(path)), placeOf(target)).replace(/\.d\.ts$/, ".js");
      return `${head}${to.startsWith(".") ? to : `./${to}`}${tail}`;
    });
    files.set(path, code);
  }
  await rm(outDir, { recursive: true, force: true });
  for (const [path, code] of files) {
    const place = join(outDir, placeOf(path));
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, code);
  }
}
