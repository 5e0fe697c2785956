import { source as axe } from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OpenPage, type PageBrowser, startBrowser } from "./browser.ts";
import { Conversation, endOf, pageOf, sampleSession, startOf } from "./sample-session.ts";

/** The exported page in a real browser, used the way a reader uses it. */

let browser: PageBrowser;
beforeAll(async () => {
  browser = await startBrowser();
}, 60_000);
afterAll(() => browser.close());

const sample = pageOf(sampleSession().entries);
const row = (page: Page, id: string) => page.locator(`[id="e-${id}"]`);
/** Whether it is on the screen, below the bar. */
async function isInView(page: Page, id: string): Promise<boolean> {
  const box = await row(page, id).boundingBox({ timeout: 1_000 });
  return box !== null && box.y > 0 && box.y < (page.viewportSize()?.height ?? 0);
}

async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const violations = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as {
    violations: { id: string; impact: string; nodes: { html: string; failureSummary?: string }[] }[];
  };
  return violations.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`).join(" | ")}`,
    );
}

function expectCalm({ problems, requests }: OpenPage): void {
  expect(problems).toEqual([]);
  expect(requests).toEqual([]);
}

test("a short page is stepped through to its last message and back, though it cannot be scrolled", async () => {
  const talk = new Conversation();
  const ids = ["one", "two", "three", "four"].map((text) => talk.user(text));
  const opened = await browser.open(pageOf(talk.entries), { height: 1400 });
  const { page } = opened;
  const target = () => page.locator("article.target").getAttribute("id");
  for (const id of ids) {
    await page.keyboard.press("Alt+ArrowDown");
    await expect.poll(target).toBe(`e-${id}`);
  }
  await page.locator('button[title="Previous message of the user"]').click();
  await expect.poll(target).toBe(`e-${ids[2]}`);
  expectCalm(opened);
});

describe("a page with a little of everything", () => {
  let opened: OpenPage;
  let page: Page;
  beforeAll(async () => {
    opened = await browser.open(sample);
    page = opened.page;
  });

  test("says what session it is", async () => {
    expect(await page.title()).toBe("Keep the last line of a file");
    expect(await page.locator("h1").textContent()).toBe("Keep the last line of a file");
    const facts = await page.locator(".facts").textContent();
    for (const fact of ["anthropic/claude-sonnet-4-5", "20 min 34 s", "113.7K", "$0.184", "~/projects/lines"]) {
      expect(facts).toContain(fact);
    }
    expect(await page.locator("svg.chart rect.bar-cached").count()).toBe(3);
    await page.getByText("System prompt").click();
    expect(await page.locator(".told pre").first().textContent()).toContain("You are a coding agent.");
  });

  test("shows markdown, code, pictures and tables", async () => {
    expect(await row(page, "first000").locator("strong").textContent()).toBe("why");
    expect(await page.evaluate("document.querySelector('article img').naturalWidth")).toBe(8);
    expect(await page.locator("pre.code .k-keyword").first().textContent()).toBe("export");
    const link = page.locator(".prose a").first();
    expect(await link.getAttribute("href")).toBe("https://example.org/posix");
    expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
  });

  test("folds tool calls and thinking, and unfolds them", async () => {
    const call = page.locator("details.tool", { hasText: "npm test -- lines" }).first();
    expect(await call.locator("pre").count()).toBe(0);
    await call.locator("summary").click();
    await call.locator("pre.terminal .fg-1").first().waitFor();
    expect(await call.locator("pre.terminal").textContent()).toContain("keeps the last line");
    await call.locator("summary").click();
    await call.locator("pre.terminal").waitFor({ state: "hidden" });
    await page.locator("details.thinking summary").click();
    await page.locator("details.thinking code").waitFor();
  });

  test("copies a text as it stands in the session", async () => {
    const code = page.locator(".prose .long-text").first();
    await code.hover();
    await code.locator("button.copy").click();
    await page.locator("#said", { hasText: "Copied." }).waitFor({ state: "attached" });
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain('(next = text.indexOf("\\n", at)) >= 0');
    await row(page, "first000").hover();
    await row(page, "first000").locator("button.copy").first().click();
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toContain("Please find out **why**");
  });

  test("goes to an entry by its link, and back", async () => {
    await row(page, "first000").hover();
    await row(page, "first000").locator("a.permalink").click();
    expect(new URL(page.url()).hash).toBe("#first000");
    await page.locator(".outline-link", { hasText: "Thank you" }).click();
    await expect.poll(() => isInView(page, "thanks00")).toBe(true);
    expect(new URL(page.url()).hash).toBe("#thanks00");
    await page.goBack();
    await expect.poll(() => isInView(page, "first000")).toBe(true);
  });

  test("goes to another branch and says so, and back to where the session stands", async () => {
    expect(await page.locator(".outline-link.off-path").allTextContents()).toEqual([
      "Other branch: Try it with a regular expression.",
      "Other branch: Assistant: 529 overloaded_error: Overloaded",
    ]);
    await page.locator(".outline-link", { hasText: "regular expression." }).first().click();
    await row(page, "regexp00").waitFor();
    expect(await row(page, "repair00").count()).toBe(0);
    expect(await page.locator(".other-branch").isVisible()).toBe(true);
    await row(page, "regexp00").locator('a[title="The next branch"]').click();
    await row(page, "repair00").waitFor();
    expect(await page.locator(".other-branch").isVisible()).toBe(false);
    // An answer that failed and was tried again.
    await page.locator('a[title="The attempt before"]').click();
    await page.locator(".error", { hasText: "529 overloaded_error" }).waitFor();
    await page.getByText("Back to where the session stands").click();
    await row(page, "thanks00").waitFor();
  });

  test("searches all entries, also those on other branches and in folds", async () => {
    await page.keyboard.press("Control+f");
    await page.keyboard.type("SLOW on long");
    await expect.poll(() => page.locator(".hit-count").textContent()).toBe("2");
    await page.keyboard.press("Enter");
    await row(page, "regexp00").waitFor();
    expect(await page.locator(".hit-count").textContent()).toBe("1 / 2");
    await page.keyboard.press("Enter");
    // The second one is in a folded summary, which is unfolded for it.
    await page.locator("details.summary[open]", { hasText: "too slow on long files" }).waitFor();
    await page.locator("#search").fill("src/main.ts:4");
    await page.locator(".hit", { hasText: "Result of a tool" }).click();
    await row(page, "grepped0").locator("details[open] pre.terminal", { hasText: "src/main.ts:4" }).waitFor();
    await page.locator("#search").fill("nowhere to be found");
    await expect.poll(() => page.locator(".hit-count").textContent()).toBe("0");
    await page.keyboard.press("Escape");
    expect(await page.locator(".side-title").textContent()).toBe("Outline");
  });

  test("steps from one message of the user to the next", async () => {
    await page.evaluate("scrollTo(0, 0)");
    await page.locator('button[title="Next message of the user"]').click();
    await expect.poll(() => isInView(page, "first000")).toBe(true);
    await page.keyboard.press("Alt+ArrowDown");
    await expect.poll(() => page.locator("article.target").getAttribute("id")).toBe("e-repair00");
    await page.keyboard.press("Alt+ArrowUp");
    await expect.poll(() => page.locator("article.target").getAttribute("id")).toBe("e-first000");
  });

  test("shows what extensions declare, and what it does not know as JSON", async () => {
    await page.locator(".outline-link", { hasText: "git status" }).click();
    const view = page.locator("article.kind-custom", { hasText: "412 of 425" });
    await view.waitFor();
    expect(await view.locator(".badge.good").textContent()).toBe("97 %");
    expect(await view.locator("td").allTextContents()).toEqual(["src/main.ts", "14-20"]);
    const unknown = page.locator("article.kind-other", { hasText: "weather_report" });
    await unknown.locator("summary").click();
    await unknown.locator("pre", { hasText: '"celsius": 7' }).waitFor();
  });

  test("is light or dark, and remembers", async () => {
    const paper = (): Promise<unknown> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await paper();
    await page.locator('button[title="Light or dark"]').click();
    expect(await paper()).not.toBe(light);
    await page.reload();
    expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
    await row(page, "thanks00").waitFor({ state: "attached" });
  });

  test("has asked for nothing and complained of nothing", () => expectCalm(opened));
});

describe.each([
  ["light", {}],
  ["dark, on a phone", { scheme: "dark", width: 360, height: 740 }],
] as const)("%s", (_name, options) => {
  test("has no serious problem of accessibility, all unfolded, and fits the screen", async () => {
    const opened = await browser.open(sample, { ...options, hash: "#repair00" });
    const { page } = opened;
    await page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
    await page.locator("pre.diff").first().waitFor({ state: "attached" });
    expect(await seriousProblems(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expectCalm(opened);
  });
});

test("opens at the entry that its address names, on whatever branch", async () => {
  const opened = await browser.open(sample, { hash: "#regexp00" });
  await expect.poll(() => isInView(opened.page, "regexp00")).toBe(true);
  expect(await opened.page.locator(".other-branch").isVisible()).toBe(true);
  expectCalm(opened);
});

describe("a long session", () => {
  const talk = new Conversation();
  for (let turn = 0; turn < 1500; turn += 1) {
    talk.user(`Question ${turn}. ${"Why is that so? ".repeat(turn % 7)}`, `q${turn}`);
    talk.assistant([{ type: "text", text: `Answer ${turn}\n\n${"- because\n".repeat(turn % 11)}` }]);
  }
  talk.user("x".repeat(5_000_000), "longline");
  talk.assistant([{ type: "text", text: "**".repeat(200_000) }]);
  const html = pageOf(talk.entries, startOf({ name: "Long" }), endOf(talk.entries, { name: "Long" }));

  test("exists only around the screen, and can be read to its end", async () => {
    const opened = await browser.open(html);
    const { page } = opened;
    const rows = (): Promise<number> => page.locator("article").count();
    expect(await rows()).toBeLessThan(80);
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)");
    await expect
      .poll(() => page.locator("article").first().getAttribute("aria-posinset").then(Number))
      .toBeGreaterThan(500);
    expect(await rows()).toBeLessThan(80);
    // What is read does not move while rows above it turn out to be higher than guessed.
    await page.evaluate("location.hash = 'q777'");
    await expect.poll(() => isInView(page, "q777")).toBe(true);
    for (let step = 0; step < 10; step += 1) await page.mouse.wheel(0, -60);
    await expect.poll(() => isInView(page, "q777")).toBe(true);
    await page.evaluate("location.hash = 'longline'");
    await expect.poll(() => isInView(page, "longline")).toBe(true);
    await row(page, "longline").locator("button.more").first().click();
    await page.locator("#search").fill("question 1234.");
    await expect.poll(() => page.locator(".hit-count").textContent()).toBe("1");
    await page.keyboard.press("Enter");
    await expect.poll(() => isInView(page, "q1234")).toBe(true);
    expect(await rows()).toBeLessThan(80);
    expectCalm(opened);
  });
});

test("a file without its end, and a session without an entry, say so", async () => {
  const cut = await browser.open(sample.slice(0, sample.indexOf('id="end"') - 40));
  await cut.page.getByText("The end of this file is missing").waitFor();
  await row(cut.page, "first000").waitFor();
  expectCalm(cut);
  const empty = await browser.open(pageOf([]));
  await empty.page.getByText("Nothing was said in this session.").waitFor();
  expectCalm(empty);
});
