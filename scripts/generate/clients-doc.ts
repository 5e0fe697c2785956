import { readFileSync } from "node:fs";
import { prose } from "./protocol-doc.ts";

/** docs/write-a-client.md: the page of docs/prose with the programs of docs/examples/clients in their places. */

export const CLIENT_FOLDER = "docs/examples/clients";
export const MOST_LINES = 50;

const LANGUAGES: Readonly<Record<string, string>> = { py: "python", mjs: "js", sh: "sh", pl: "perl", go: "go" };

export function renderClientsDoc(): string {
  const note =
    "<!-- Written by `npm run generate` from docs/prose/write-a-client.md and docs/examples/clients. Do not edit. -->";
  const page = prose("write-a-client").replaceAll(/^<!-- program: (\S+) -->$/gm, (_, file: string) => program(file));
  return `${note}\n\n${page}\n`;
}

function program(file: string): string {
  const text = readFileSync(`${CLIENT_FOLDER}/${file}`, "utf8").trimEnd();
  const lines = text.split("\n").length;
  if (lines > MOST_LINES) throw new Error(`${CLIENT_FOLDER}/${file} has ${lines} lines, more than ${MOST_LINES}`);
  const language = LANGUAGES[file.split(".").at(-1) ?? ""] ?? "";
  return `[${CLIENT_FOLDER.replace("docs/", "")}/${file}](${CLIENT_FOLDER.replace("docs/", "")}/${file}), ${lines} lines:\n\n\`\`\`${language}\n${text}\n\`\`\``;
}
