import { readSimpleHeader, splitFrontMatter } from "../prompts/frontmatter.ts";
import type { Header } from "../prompts/yaml-header.ts";

/** Markdown files with a header, read at once: extensions expect no promise, so the YAML reader is given. */

export type ReadYaml = (header: string) => Header | { line: number; reason: string };

export interface FrontMatter {
  frontmatter: Record<string, unknown>;
  body: string;
}

export function parseFrontmatter(readYaml: ReadYaml, text: string): FrontMatter {
  const { header, body } = splitFrontMatter(text);
  if (header === undefined) return { frontmatter: {}, body };
  return { frontmatter: Object.fromEntries(headerValues(readYaml, header)), body: body.trim() };
}

export function headerValues(readYaml: ReadYaml, header: string): ReadonlyMap<string, unknown> {
  const found = readSimpleHeader(header) ?? readYaml(header);
  if ("reason" in found) throw new Error(`Line ${found.line} of the front matter: ${found.reason}`);
  return found.values;
}
