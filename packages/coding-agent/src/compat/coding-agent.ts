import { resolve } from "node:path";
import { defaultShell } from "../exec/shell.ts";
import type { SourceInfo } from "../prompts/places.ts";
import { fileMutations } from "../tools/file-mutations.ts";
import { MAX_BYTES, MAX_LINES } from "../tools/limits.ts";
import { realPath } from "../tools/save-file.ts";
import { formatSize, truncateHead, truncateTail } from "../tools/truncate.ts";
import { createBus } from "./event-bus.ts";
import { parseFrontmatter } from "./front-matter.ts";
import type { CompatHost } from "./host.ts";
import { registryNames } from "./model-registry.ts";
import { unavailable, unavailableClass } from "./not-available.ts";
import {
  buildSessionContext,
  getLatestCompactionEntry,
  migrateSessionEntries,
  parseSessionEntries,
} from "./session-entries.ts";
import { sessionManagerFor } from "./session-manager.ts";
import { settingsManagerFor } from "./settings-manager.ts";
import { formatSkillsForPrompt, loadSkills, loadSkillsFromDir } from "./skills.ts";
import { type Names, openModule } from "./stand-in.ts";
import { summaryNames } from "./summaries.ts";
import {
  getEditorTheme,
  getMarkdownTheme,
  getSelectListTheme,
  getSettingsListTheme,
  plainTheme,
  Theme,
} from "./theme.ts";
import { toolFactoryNames } from "./tool-factories.ts";
import { keyText } from "./tui-keys.ts";
import {
  BorderedLoader,
  CustomEditor,
  DynamicBorder,
  getLanguageFromPath,
  highlightCode,
  keyHint,
  rawKeyHint,
} from "./widgets.ts";

/** Would need a second agent in this process. */
const UNAVAILABLE =
  "createAgentSession createAgentSessionFromServices createAgentSessionRuntime createAgentSessionServices createExtensionRuntime discoverAndLoadExtensions main runPrintMode runRpcMode";
const UNAVAILABLE_CLASSES =
  "AgentSession AgentSessionRuntime InteractiveMode DefaultResourceLoader DefaultPackageManager RpcClient";

/** The folder of a project. Extensions keep their own files there, so it is the one they have always known. */
const CONFIG_DIR_NAME = ".pi";
const SESSION_VERSION = 3;
const LONGEST_GREP_LINE = 500;

/** `pi-coding-agent`: our own tools, files and models under the names that extensions know. */
export async function codingAgentModule(host: CompatHost): Promise<Names> {
  const { readYamlHeader } = await import("../prompts/yaml-header.ts");
  return openModule(
    "pi-coding-agent",
    {
      ...guards(),
      ...toolFactoryNames(host),
      ...summaryNames(host),
      ...registryNames(host),
      ...looks(),
      VERSION: host.version,
      CONFIG_DIR_NAME,
      CURRENT_SESSION_VERSION: SESSION_VERSION,
      DEFAULT_MAX_BYTES: MAX_BYTES,
      DEFAULT_MAX_LINES: MAX_LINES,
      getAgentDir: () => host.agentDir,
      getShellConfig: () => ({ shell: host.shell?.path ?? defaultShell(), args: ["-c"] }),
      truncateHead,
      truncateTail,
      truncateLine,
      formatSize,
      withFileMutationQueue: <T>(path: string, work: () => Promise<T>) =>
        fileMutations.run(realPath(resolve(host.cwd, path)), async () => work()),
      defineTool: (tool: unknown) => tool,
      createEventBus: () => createBus(host.log),
      createSyntheticSourceInfo,
      parseFrontmatter: (text: string) => parseFrontmatter(readYamlHeader, text),
      stripFrontmatter: (text: string) => parseFrontmatter(readYamlHeader, text).body,
      loadSkills: (places?: object) => loadSkills(host, readYamlHeader, places),
      loadSkillsFromDir: (place: { dir: string; source?: string }) => loadSkillsFromDir(readYamlHeader, place),
      formatSkillsForPrompt,
      SessionManager: sessionManagerFor(host),
      SettingsManager: settingsManagerFor(host),
      buildSessionContext,
      parseSessionEntries,
      migrateSessionEntries: (entries: Parameters<typeof migrateSessionEntries>[0]) =>
        migrateSessionEntries(entries, host.ids.short),
      getLatestCompactionEntry,
      ...Object.fromEntries(UNAVAILABLE.split(" ").map((name) => [name, unavailable(name)])),
      ...Object.fromEntries(UNAVAILABLE_CLASSES.split(" ").map((name) => [name, unavailableClass(name)])),
    },
    host.onStandIn,
  );
}

interface ToolEvent {
  toolName?: unknown;
}

/** `isToolCallEventType("bash", event)`, `isBashToolResult(event)` ... */
function guards(): Record<string, unknown> {
  const isOf = (name: string) => (event: ToolEvent) => event.toolName === name;
  return {
    isToolCallEventType: (name: string, event: ToolEvent) => event.toolName === name,
    isToolResultEventType: (name: string, event: ToolEvent) => event.toolName === name,
    isBashToolResult: isOf("bash"),
    isReadToolResult: isOf("read"),
    isEditToolResult: isOf("edit"),
    isWriteToolResult: isOf("write"),
    isGrepToolResult: isOf("grep"),
    isFindToolResult: isOf("find"),
    isLsToolResult: isOf("ls"),
  };
}

/** What belongs to a terminal. */
function looks(): Record<string, unknown> {
  return {
    Theme,
    theme: plainTheme,
    initTheme: () => undefined,
    getMarkdownTheme,
    getSelectListTheme,
    getSettingsListTheme,
    getEditorTheme,
    highlightCode,
    getLanguageFromPath,
    keyHint,
    keyText,
    rawKeyHint,
    DynamicBorder,
    BorderedLoader,
    CustomEditor,
    renderDiff: (diff: string) => diff,
    truncateToVisualLines: (text: string, most: number) => {
      const lines = text.split("\n");
      return { visualLines: lines.slice(-most), skippedCount: Math.max(0, lines.length - most) };
    },
    copyToClipboard: async () => undefined,
  };
}

function truncateLine(line: string, longest = LONGEST_GREP_LINE): { text: string; wasTruncated: boolean } {
  if (line.length <= longest) return { text: line, wasTruncated: false };
  return { text: `${line.slice(0, longest)}... [truncated]`, wasTruncated: true };
}

function createSyntheticSourceInfo(path: string, given: Partial<SourceInfo> = {}): object {
  return { path, source: "sdk", scope: "temporary", origin: "top-level", ...given };
}
