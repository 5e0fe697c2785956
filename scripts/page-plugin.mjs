// Puts the program and the style of the exported page into export/html/page-text.ts, for the bundler and for the tests.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const pageDir = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages/coding-agent/src/export/page");

async function program() {
  const build = await rolldown({
    input: join(pageDir, "main.ts"),
    platform: "browser",
    transform: { target: "es2022" },
    logLevel: "warn",
  });
  const { output } = await build.generate({ format: "iife", minify: true, sourcemap: false });
  await build.close();
  // Only our texts have these, and there it is another way to write the same.
  return output[0].code.trim().replaceAll("<!--", "\\x3c!--").replaceAll("</", "\\x3c/");
}

/** In the order in which they count. */
const STYLES = ["colours", "base", "bar", "columns", "intro", "rows", "prose", "folds", "long-text", "narrow", "print"];

/** Comments, and the space that only people need. The texts in our style have none of the characters in question. */
async function style() {
  const texts = await Promise.all(STYLES.map((name) => readFile(join(pageDir, "style", `${name}.css`), "utf8")));
  return texts
    .join("\n")
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,]) ?/g, "$1")
    .trim();
}

/** Inside of a `<script>` or `<style>` these would end it. The hash is that of the text as the browser sees it. */
function checked(name, text) {
  if (/<\/(script|style)|<!--|\r/i.test(text)) throw new Error(`the ${name} of the page has text that ends it`);
  const hash = `sha256-${createHash("sha256").update(text, "utf8").digest("base64")}`;
  return { text, hash };
}

export function pagePlugin() {
  return {
    name: "tiller-page",
    async load(id) {
      if (!id.endsWith("coding-agent/src/export/html/page-text.ts")) return null;
      const css = checked("style", await style());
      const js = checked("program", await program());
      const constant = (name, value) => `export const ${name} = ${JSON.stringify(value)};\n`;
      return [
        constant("PAGE_CSS", css.text),
        constant("PAGE_CSS_HASH", css.hash),
        constant("PAGE_JS", js.text),
        constant("PAGE_JS_HASH", js.hash),
      ].join("");
    },
  };
}
