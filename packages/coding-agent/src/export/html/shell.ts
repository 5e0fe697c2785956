import type { IndexColumns, PageEnd, PageStart } from "./format.ts";
import { PAGE_CSS, PAGE_CSS_HASH, PAGE_JS, PAGE_JS_HASH } from "./page-text.ts";

/** The text of every part of an exported page, see format.ts. Pure. Large: import it only when a page is made. */

/** Nothing may be loaded, sent or run but the one program and the one style that stand in the file itself. */
const POLICY = [
  "default-src 'none'",
  `script-src '${PAGE_JS_HASH}'`,
  `style-src '${PAGE_CSS_HASH}'`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

export function openPage(start: PageStart): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Tiller ${escapeText(start.version)}">
<title>${escapeText(start.name ?? "Session")}</title>
<style>${PAGE_CSS}</style>
</head>
<body>
<div id="app"></div>
<noscript><p>This is a session of the coding agent Tiller. Showing it takes JavaScript, which is switched off here; nothing
is loaded from anywhere. The conversation stands in this file as JSON.</p></noscript>
${dataScript("start", start)}
<script>${PAGE_JS}</script>
<div id="data" hidden>
`;
}

/** `entries`: the JSON text of each. */
export function blockText(columns: IndexColumns, entries: readonly string[]): string {
  const index = scriptSafe(JSON.stringify(columns));
  return `<script type="application/json" class="i">${index}</script>
<script type="application/json" class="d">[${scriptSafe(entries.join(",\n"))}]</script>
`;
}

export function closePage(end: PageEnd): string {
  return `${dataScript("end", end)}
</div>
</body>
</html>
`;
}

function dataScript(id: string, data: PageStart | PageEnd): string {
  return `<script type="application/json" id="${id}">${scriptSafe(JSON.stringify(data))}</script>`;
}

/** JSON has these characters only inside of strings. Without `<` nothing can end a script or begin a comment. */
function scriptSafe(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
