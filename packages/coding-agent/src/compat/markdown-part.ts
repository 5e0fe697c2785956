import { parseFrontmatter } from "./front-matter.ts";
import type { CompatHost } from "./host.ts";
import { formatSkillsForPrompt, loadSkills, loadSkillsFromDir } from "./skills.ts";
import type { Names } from "./stand-in.ts";

export async function markdownNames(host: CompatHost): Promise<Names> {
  const { readYamlHeader } = await import("../prompts/yaml-header.ts");
  return {
    parseFrontmatter: (text: string) => parseFrontmatter(readYamlHeader, text),
    stripFrontmatter: (text: string) => parseFrontmatter(readYamlHeader, text).body,
    loadSkills: (places?: object) => loadSkills(host, readYamlHeader, places),
    loadSkillsFromDir: (place: { dir: string; source?: string }) => loadSkillsFromDir(readYamlHeader, place),
    formatSkillsForPrompt,
  };
}
