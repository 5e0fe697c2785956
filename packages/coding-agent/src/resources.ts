import { dirname } from "node:path";
import type { Dialect } from "@tiller/protocol/dialects/dialect";
import type { Ground } from "./ground.ts";
import { ownRepositoryTop } from "./lib/repository-top.ts";
import { readText } from "./lib/text-file.ts";
import { baseOf } from "./part-settings.ts";
import { findTemplates, type PromptTemplate } from "./prompts/discover.ts";
import { expandInput } from "./prompts/expand.ts";
import { BY_OPTION, BY_SETTING, type NamedPath, projectFolders } from "./prompts/places.ts";
import { findRuleFiles } from "./rules/discover.ts";
import type { LoadedRule } from "./rules/rule.ts";
import { findSkills, skillSetting } from "./skills/discover.ts";
import type { Skill } from "./skills/skill.ts";
import type { SystemPromptParts } from "./system-prompt/build.ts";
import { type ContextFile, findContextFiles } from "./system-prompt/context-files.ts";
import { findPromptFiles } from "./system-prompt/prompt-files.ts";
import { textOrFile } from "./text-or-file.ts";

/** The texts that a user and a project give the agent: skills, templates, stream rules, context files, prompts. */
export interface Resources {
  skills: readonly Skill[];
  templates: readonly PromptTemplate[];
  rules: readonly LoadedRule[];
  systemPrompt: Pick<SystemPromptParts, "base" | "append" | "skills"> & { contextFiles: readonly ContextFile[] };
  /** Where the parts of the system prompt come from that are not built in. */
  origins: { base?: string; append: readonly string[] };
  /** What could not be used, one sentence each. */
  problems: readonly string[];
  /** A prompt that begins with a slash, with the text that it stands for. */
  expand(text: string): { text: string } | { error: string };
}

/** Finds them for one working folder. Loaded with the first prompt, or the first command that asks for them. */
export async function loadResources(ground: Ground, folder: string): Promise<Resources> {
  const { options } = ground.run;
  const place = placeOf(ground, folder);
  const [skills, templates] = await Promise.all([skillsFor(ground, place), templatesFor(ground, place)]);
  const context = options.noContextFiles ? { files: [], problems: [] } : findContextFiles(place);
  const prompts = promptsFor(ground, folder);
  const rules = await rulesFor(ground, place);
  const always = options.noContextFiles ? [] : rules.always;
  const isOffered = ground.settings.get("enableSkillCommands");
  const family = familyOf(ground.run.dialect);
  const commands = { skills: isOffered ? skills.skills : [], templates: templates.templates, family };
  return {
    skills: skills.skills,
    templates: templates.templates,
    rules: rules.rules,
    systemPrompt: { ...prompts.texts, contextFiles: [...context.files, ...always], skills: skills.skills },
    origins: prompts.origins,
    problems: [...skills.problems, ...templates.problems, ...context.problems, ...prompts.problems, ...rules.problems],
    expand(text) {
      const expanded = expandInput(text, { ...commands, readFile: readForCall });
      // A slash that calls nothing we know is a text like any other.
      return "unknown" in expanded ? { text } : expanded;
    },
  };
}

function readForCall(path: string): string {
  const read = readText(path);
  if ("reason" in read) throw new Error(read.reason);
  return read.text;
}

/** Where the texts of a working folder may lie. */
export function placeOf({ agentDir, env, run }: Ground, cwd: string) {
  const trustsProject = run.projectTrust !== "none";
  const top = ownRepositoryTop(cwd);
  return {
    cwd,
    agentDir,
    env,
    repositoryTop: top,
    trustsProject,
    projectFolders: trustsProject ? projectFolders(cwd, top) : [],
  };
}

type Surroundings = ReturnType<typeof placeOf>;

async function skillsFor(ground: Ground, place: Surroundings) {
  const { options } = ground.run;
  const { paths, isEnabled, problem } = skillSetting(ground.settings.get("skills"));
  const named = [
    ...bySetting("skills", paths, ground),
    ...byExtension("skills", ground),
    ...byOption(options.skill ?? [], ground),
  ];
  const onlyNamed = options.noSkills === true || !isEnabled;
  const found = await findSkills({ ...place, named, onlyNamed, only: options.skills });
  return { ...found, problems: problem === undefined ? found.problems : [problem, ...found.problems] };
}

function templatesFor(ground: Ground, place: Surroundings) {
  const { options } = ground.run;
  const named = [
    ...bySetting("prompts", ground.settings.get("prompts"), ground),
    ...byExtension("prompts", ground),
    ...byOption(options.promptTemplate ?? [], ground),
  ];
  return findTemplates({ ...place, named, onlyNamed: options.noPromptTemplates });
}

interface RulesFound {
  rules: readonly LoadedRule[];
  always: readonly ContextFile[];
  problems: readonly string[];
}

/** Most have none: then a look at the folders is all that it costs. */
async function rulesFor(ground: Ground, place: Surroundings): Promise<RulesFound> {
  if (ground.run.options.noRules) return { rules: [], always: [], problems: [] };
  const { files, problems } = findRuleFiles(place);
  if (files.length === 0) return { rules: [], always: [], problems };
  const { loadRules } = await import("./rules/load-rules.ts");
  const loaded = await loadRules(files);
  return {
    rules: ground.settings.get("ttsr.enabled") ? loaded.rules : [],
    always: loaded.always.map(({ path, text }) => ({ path, text, place: "rule" })),
    problems: [...problems, ...loaded.problems],
  };
}

function bySetting(key: "skills" | "prompts", paths: readonly string[], { agentDir, settings }: Ground): NamedPath[] {
  const base = baseOf(settings, key, agentDir);
  const scope = settings.origin(key).kind === "project" ? "project" : BY_SETTING.scope;
  return paths.map((path) => ({ path, ...BY_SETTING, scope, base }));
}

/** What packages bring with them, and what extensions say. */
function byExtension(kind: "skills" | "prompts", { extensions }: Ground): NamedPath[] {
  if (!extensions) return [];
  const { skillPaths, promptPaths } = extensions.resources;
  const said = kind === "skills" ? skillPaths : promptPaths;
  return [
    ...extensions.found.resources[kind].map(({ path, source, scope, origin, baseDir }) => {
      return { path, source, scope, origin, base: baseDir };
    }),
    ...said.map(({ path, extensionPath }) => {
      return { path, source: extensionPath, scope: "temporary" as const, base: dirname(extensionPath) };
    }),
  ];
}

/** They count from where the process was started, whatever folder the session is about. */
function byOption(paths: readonly string[], { cwd }: Ground): NamedPath[] {
  return paths.map((path) => ({ path, ...BY_OPTION, base: cwd }));
}

/** What the command line says counts; else the files of the project and the user. */
function promptsFor(ground: Ground, folder: string) {
  const { agentDir, run } = ground;
  const { systemPrompt, appendSystemPrompt } = run.options;
  const trustsProject = run.projectTrust !== "none";
  const files = findPromptFiles({ projectFolder: trustsProject ? folder : undefined, agentDir });
  const given = systemPrompt === undefined ? undefined : textOrFile("--system-prompt", systemPrompt, ground);
  const appended = appendSystemPrompt?.map((text) => textOrFile("--append-system-prompt", text, ground));
  return {
    texts: {
      base: given ?? files.base?.text,
      append: appended ?? (files.append ? [files.append.text] : []),
    },
    origins: {
      base: given === undefined ? files.base?.path : "--system-prompt",
      append: appended ? appended.map(() => "--append-system-prompt") : files.append ? [files.append.path] : [],
    },
    problems: files.problems,
  };
}

function familyOf({ name }: Dialect): "pi" | "omp" | "union" {
  return name === "xcsh" ? "omp" : name;
}
