// The front page of the package, and the documents that it leads to: they lie in the package as they lie here.
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";

const PAGES = ["README.md", "SECURITY.md", "bench/RESULTS.md"];
const PICTURES = ["bench/peers.svg", "bench/growth.svg"];
const FOLDERS = ["docs", "bench"];

const LINK = /(!?)\[((?:[^[\]]|\[[^[\]]*\])*)\]\(([^()\s]+)\)/g;

/** What a link leads to that the package does not have is left as plain text. */
export function withoutDeadLinks(text, page, shipped) {
  return text.replace(LINK, (whole, mark, words, target) => {
    const [path] = target.split("#");
    const isElsewhere = path === "" || /^[a-z]+:/i.test(path);
    if (isElsewhere || shipped.has(posix.join(posix.dirname(page), path))) return whole;
    return mark ? "" : words;
  });
}

export async function writePackageDocs(root, productDir) {
  const docs = (await readdir(join(root, "docs"))).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`);
  const pages = [...PAGES, ...docs];
  const shipped = new Set([...pages, ...PICTURES]);
  for (const folder of FOLDERS) await rm(join(productDir, folder), { recursive: true, force: true });
  for (const page of pages) {
    const text = await readFile(join(root, page), "utf8");
    await mkdir(dirname(join(productDir, page)), { recursive: true });
    await writeFile(join(productDir, page), withoutDeadLinks(text, page, shipped));
  }
  for (const picture of PICTURES) await copyFile(join(root, picture), join(productDir, picture));
}
