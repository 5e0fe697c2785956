import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PROVIDERS } from "@tiller/ai/providers/index";
import { writeOrCheck } from "./generate/output.ts";
import { buildCatalogue, type Inputs, type Profile, renderCatalogue } from "./models/build.ts";
import { AS_OF, OVERLAY } from "./models/overlay.ts";
import type { PricedProvider } from "./models/prices.ts";

/**
 * Writes packages/ai/src/models.json from two published sets of data and our overlay. Needs the network: the packages are
 * fetched with `npm pack` into a temporary folder and never become part of the project. See docs/models.md.
 *
 *   node scripts/run.mjs scripts/models.ts [--check]
 */

const PRICES = "@pydantic/genai-prices@0.1.8";
/** By our provider id: the package that describes its models, and the file in it. */
const PROFILES: Readonly<Record<string, { pack: string; file: string }>> = {
  openai: { pack: "@langchain/openai@1.5.8", file: "dist/chat_models/profiles.js" },
  anthropic: { pack: "@langchain/anthropic@1.5.11", file: "dist/profiles.js" },
  google: { pack: "@langchain/google-genai@2.3.2", file: "dist/profiles.js" },
  groq: { pack: "@langchain/groq@1.3.1", file: "dist/profiles.js" },
  xai: { pack: "@langchain/xai@1.4.15", file: "dist/profiles.js" },
  deepseek: { pack: "@langchain/deepseek@1.1.13", file: "dist/profiles.js" },
  openrouter: { pack: "@langchain/openrouter@0.4.11", file: "dist/profiles.js" },
};

/** The package unpacked in a folder of its own, and the hash the registry knows it by. */
function fetchPackage(name: string, temporary: string): { folder: string; source: string } {
  const folder = mkdtempSync(join(temporary, "package-"));
  execFileSync("npm", ["pack", "--silent", name], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const archive = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  if (archive === undefined) throw new Error(`npm pack ${name} left no archive`);
  const hash = createHash("sha512")
    .update(readFileSync(join(folder, archive)))
    .digest("base64");
  execFileSync("tar", ["-xzf", archive], { cwd: folder });
  return { folder: join(folder, "package"), source: `${name} sha512-${hash}` };
}

const load = (path: string): Promise<Record<string, unknown>> => import(pathToFileURL(path).href);

async function readPrices(folder: string): Promise<Map<string, PricedProvider>> {
  const { findProvider } = await load(join(folder, "dist/index.js"));
  const find = findProvider as (options: { providerId: string }) => PricedProvider | undefined;
  const ids = Object.values(OVERLAY).flatMap(({ prices }) => prices ?? []);
  return new Map(
    ids.map((id) => {
      const provider = find({ providerId: id });
      if (!provider) throw new Error(`${PRICES} knows no provider "${id}"`);
      return [id, provider];
    }),
  );
}

async function gather(temporary: string): Promise<Inputs> {
  const priced = fetchPackage(PRICES, temporary);
  const sources = [priced.source];
  const profiles: Record<string, Record<string, Profile>> = {};
  for (const [provider, { pack, file }] of Object.entries(PROFILES)) {
    const { folder, source } = fetchPackage(pack, temporary);
    sources.push(source);
    profiles[provider] = (await load(join(folder, file))).default as Record<string, Profile>;
  }
  const prices = await readPrices(priced.folder);
  return { sources, prices, profiles, overlay: OVERLAY, rows: PROVIDERS, asOf: AS_OF };
}

const temporary = mkdtempSync(join(tmpdir(), "tiller-models-"));
try {
  const text = renderCatalogue(buildCatalogue(await gather(temporary)));
  const files = new Map([["packages/ai/src/models.json", text]]);
  process.exitCode = writeOrCheck(files, { check: process.argv.includes("--check") });
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
