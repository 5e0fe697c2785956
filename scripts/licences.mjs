// The licences of what is bundled into the product, from the packages whose modules are really in it.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const HEAD = `# Licences of what is in this package

The program is bundled: parts of the following packages are in \`dist\`. What is installed beside it as a package of its own
(\`oxc-transform\`) has its licence with it.
`;

/** A Markdown text; throws when one of them has no licence that we know of. */
export async function licencesOf(chunks) {
  const folders = new Set(chunks.flatMap((chunk) => Object.keys(chunk.modules).flatMap(packageFolder)));
  const packages = await Promise.all([...folders].map(readPackage));
  packages.sort((a, b) => (a.name < b.name ? -1 : 1));
  return [HEAD, ...packages.map(section)].join("\n");
}

const BUNDLER = fileURLToPath(new URL("../node_modules/rolldown", import.meta.url));

/** Of the innermost package; none for our own modules. The bundler adds a few lines of its own. */
function packageFolder(id) {
  if (/^\0.*rolldown.*runtime/.test(id)) return [BUNDLER];
  const found = /^(?<folder>.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)?.groups;
  return found ? [found.folder] : [];
}

async function readPackage(folder) {
  const { name, version, license, homepage } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e(\.\w+)?$/i.test(entry));
  if (!file || !license) throw new Error(`${name} is bundled, but its package names no licence or has no text of it`);
  return { name, version, license, homepage, text: (await readFile(join(folder, file), "utf8")).trim() };
}

function section({ name, version, license, homepage, text }) {
  const where = homepage ? `, <${homepage}>` : "";
  return `## ${name} ${version}\n\n${license}${where}\n\n\`\`\`text\n${text}\n\`\`\`\n`;
}
