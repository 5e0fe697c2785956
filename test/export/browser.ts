import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { BROWSER } from "../../scripts/browser-here.mjs";

/** Debian's chromium, started once; every page in a window of its own that remembers what it complained of and asked for. */

export interface OpenPage {
  page: Page;
  /** Messages of the console that are errors or warnings, exceptions, and what the policy has refused. */
  problems: string[];
  /** Addresses that something in the page wanted, but for the file itself. */
  requests: string[];
}

export interface PageBrowser {
  open(
    html: string | { file: string },
    options?: { width?: number; height?: number; hash?: string; scheme?: "light" | "dark" },
  ): Promise<OpenPage>;
  close(): Promise<void>;
}

export async function startBrowser(executablePath = BROWSER): Promise<PageBrowser> {
  if (!existsSync(executablePath)) {
    throw new Error(
      `there is no browser at ${executablePath}: install Debian's chromium, or name the path of one with CHROMIUM`,
    );
  }
  const folder = mkdtempSync(join(tmpdir(), "tiller-page-"));
  const browser: Browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-background-networking"],
  });
  let count = 0;
  const contexts: BrowserContext[] = [];
  return {
    async open(html, { width = 1280, height = 900, hash = "", scheme = "light" } = {}) {
      count += 1;
      const file = typeof html === "string" ? join(folder, `page-${count}.html`) : html.file;
      if (typeof html === "string") writeFileSync(file, html);
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        permissions: ["clipboard-read", "clipboard-write"],
      });
      contexts.push(context);
      const page = await context.newPage();
      const problems: string[] = [];
      const requests: string[] = [];
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) problems.push(message.text());
      });
      page.on("pageerror", (error) => problems.push(String(error)));
      page.on("dialog", (dialog) => {
        problems.push(`dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on("request", (request) => {
        if (!request.url().startsWith(`file://${file}`) && !request.url().startsWith("data:image/"))
          requests.push(request.url());
      });
      context.on("page", (other) => problems.push(`a window was opened: ${other.url()}`));
      await page.goto(`file://${file}${hash}`);
      // The whole file is read and shown.
      await page.waitForSelector("main:not([aria-busy])");
      return { page, problems, requests };
    },
    async close() {
      for (const context of contexts) await context.close();
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
