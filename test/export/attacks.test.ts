import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writePage } from "../../packages/coding-agent/src/export/write-page.ts";
import { ATTACKS, attackingSession, CANARY } from "./attacks.ts";
import { type PageBrowser, startBrowser } from "./browser.ts";

/** A session that is one attack after the other, exported and opened in a real browser. */

let browser: PageBrowser;
let folder: string;
const file = (): string => join(folder, "page.html");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tiller-attacks-"));
  const bad = ATTACKS[0]!;
  const known = { systemPrompt: ATTACKS.join("\n"), tools: ATTACKS.map((name) => ({ name, description: name })) };
  const head = { id: bad, cwd: bad, created: bad, version: 3, title: bad };
  await writePage(file(), { head, lines: [attackingSession()], known }, { version: bad, exported: bad });
  browser = await startBrowser();
}, 60_000);
afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Seen {
  /** What no text of a session may ever become. */
  forbidden: string[];
  /** How wide the page is. */
  width: number;
  isHit: boolean;
  rows: number;
}

/** As for a printer, all rows are there at once; and everything that is folded is unfolded. Runs in the browser. */
const SHOW_ALL = `(async () => {
  globalThis.ours = new Set(document.querySelectorAll("script, style"));
  const shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  dispatchEvent(new Event("beforeprint"));
  for (let left = 1; left > 0; ) {
    await shown();
    const folded = document.querySelectorAll("details:not([open])");
    for (const details of folded) details.open = true;
    left = folded.length;
  }
})()`;

const LOOK = `(() => {
  const forbidden = new Set();
  const addresses = /^(https?:|mailto:|#|data:image\\/(png|jpeg|gif|webp);base64,)/;
  for (const element of document.querySelectorAll("*")) {
    const { localName, attributes } = element;
    if (/^(iframe|object|embed|link|base|form|style|script)$/.test(localName) && !ours.has(element)) forbidden.add(localName);
    for (const { name, value } of attributes) {
      const isAddress = /^(href|src|action|formaction|srcset|xlink:href)$/.test(name);
      if (/^on/.test(name) || name === "srcdoc" || (isAddress && !addresses.test(value))) {
        forbidden.add(localName + " " + name + "=" + value.slice(0, 80));
      }
    }
  }
  return {
    forbidden: [...forbidden],
    width: document.documentElement.scrollWidth,
    isHit: "${CANARY}" in globalThis,
    rows: document.querySelectorAll("[id^='e-']").length,
  };
})()`;

test("a page of attacks runs nothing, asks for nothing, complains of nothing and stays in shape", async () => {
  const { page, requests, problems } = await browser.open({ file: file() });
  await page.evaluate(SHOW_ALL);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const { rows, ...seen } = (await page.evaluate(LOOK)) as Seen;
    expect(seen).toEqual({ forbidden: [], width, isHit: false });
    expect(rows).toBeGreaterThan(ATTACKS.length * 40);
  }
  expect(requests).toEqual([]);
  expect(problems).toEqual([]);
}, 120_000);
