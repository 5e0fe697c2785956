import { availableCommands, type CommandItem, commandItems } from "./prompts/command-list.ts";
import type { Resources } from "./resources.ts";
import type { SessionResources } from "./session/agent-session.ts";
import { estimateAll } from "./session/compaction/policy.ts";
import type { RunMachinery } from "./session/run-options.ts";
import type { SessionStore } from "./session/store/session-store.ts";
import type { Skill } from "./skills/skill.ts";
import { contextReport } from "./system-prompt/context-report.ts";
import type { Toolbox } from "./toolbox.ts";

export interface ResourceOptions {
  resources: Resources;
  store: SessionStore;
  clock: { now(): number };
  machinery(): Promise<RunMachinery>;
  toolbox: Pick<Toolbox, "other" | "lent">;
  /** Skills can be called by their names. */
  offersSkills: boolean;
  extensionCommands(): CommandItem[];
}

/** What hosts are told about the user's and the project's texts. Loaded with the first command that asks. */
export function createSessionResources(options: ResourceOptions): SessionResources {
  const { resources, store, clock, offersSkills } = options;
  const { templates } = resources;
  const listed = () => ({
    extensions: options.extensionCommands(),
    templates,
    skills: offersSkills ? resources.skills : [],
  });
  return {
    commands: () => ({ commands: commandItems(listed()) }),
    availableCommands: () => ({ commands: availableCommands(listed()) }),
    async context() {
      const { ports } = await options.machinery();
      const { messages } = store;
      const date = new Date(clock.now()).toISOString().slice(0, 10);
      const tools = await ports.tools();
      const explained = tools.map((tool) => ({ ...tool, why: whyTool(tool.name, options.toolbox) }));
      const skills = resources.skills.map((skill) => ({ ...skill, why: whySkill(skill) }));
      const report = contextReport({
        prompt: { ...resources.systemPrompt, tools: explained, skills, cwd: store.cwd, date },
        origins: resources.origins,
        conversation: { messages: messages.length, tokens: estimateAll(messages) },
        contextWindow: ports.model().contextWindow,
      });
      // The very text, which keeps the date of the first prompt.
      return { ...report, systemPrompt: ports.systemPrompt(tools) };
    },
  };
}

export function whyTool(name: string, toolbox: ResourceOptions["toolbox"]): string {
  const tool = toolbox.other(name);
  if (!tool) return "It is built in and active";
  if (tool.source !== undefined) return `It is one of ${tool.source}`;
  return toolbox.lent().includes(name) ? "The host lends it" : "An extension brings it";
}

export function whySkill({ source, sourceInfo }: Pick<Skill, "source" | "sourceInfo">): string {
  if (source !== "path") return `It lies in ${sourceInfo.baseDir}, where skills of the ${source} are looked for`;
  if (sourceInfo.source === "cli") return "--skill names it";
  if (sourceInfo.source === "settings") return "The setting skills names it";
  return `${sourceInfo.source} brings it`;
}
