import { resolve } from "node:path";
import { defaultShell } from "../exec/shell.ts";
import type { SourceInfo } from "../prompts/places.ts";
import { fileMutations } from "../tools/file-mutations.ts";
import { MAX_BYTES, MAX_LINES } from "../tools/limits.ts";
import { realPath } from "../tools/save-file.ts";
import { formatSize, truncateHead, truncateTail } from "../tools/truncate.ts";
import { createBus } from "./event-bus.ts";
import type { CompatHost } from "./host.ts";
import { unavailable, unavailableClass } from "./not-available.ts";
import { createParts, type OpenParts, type Part } from "./parts.ts";
import { settingsManagerFor } from "./settings-manager.ts";
import {
  getEditorTheme,
  getMarkdownTheme,
  getSelectListTheme,
  getSettingsListTheme,
  plainTheme,
  Theme,
} from "./theme.ts";
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
const LONGEST_GREP_LINE = 500;

/** What most extensions do not ask for, and what takes time to load. */
export const CODING_AGENT_PARTS: readonly Part[] = [
  {
    names: `createLocalBashOperations codingTools readOnlyTools createCodingTools createReadOnlyTools createAllTools
      readTool bashTool editTool writeTool grepTool findTool lsTool
      createReadTool createBashTool createEditTool createWriteTool createGrepTool createFindTool createLsTool
      createReadToolDefinition createBashToolDefinition createEditToolDefinition createWriteToolDefinition
      createGrepToolDefinition createFindToolDefinition createLsToolDefinition`,
    load: async (host) => (await import("./tool-factories.ts")).toolFactoryNames(host),
  },
  {
    names: `DEFAULT_COMPACTION_SETTINGS convertToLlm serializeConversation estimateTokens generateSummary compact
      generateBranchSummary calculateContextTokens getLastAssistantUsage shouldCompact`,
    load: async (host) => (await import("./summaries.ts")).summaryNames(host),
  },
  {
    names: "ModelRegistry ModelRuntime AuthStorage",
    load: async (host) => (await import("./model-registry.ts")).registryNames(host),
  },
  {
    names: `SessionManager CURRENT_SESSION_VERSION buildSessionContext parseSessionEntries migrateSessionEntries
      getLatestCompactionEntry`,
    load: async (host) => (await import("./sessions-part.ts")).sessionNames(host),
  },
  {
    names: "parseFrontmatter stripFrontmatter loadSkills loadSkillsFromDir formatSkillsForPrompt",
    load: async (host) => (await import("./markdown-part.ts")).markdownNames(host),
  },
];

/** `pi-coding-agent`: our own tools, files and models under the names that extensions know. */
export function codingAgentModule(host: CompatHost): OpenParts {
  return createParts(
    "pi-coding-agent",
    {
      ...guards(),
      ...looks(),
      VERSION: host.version,
      CONFIG_DIR_NAME,
      DEFAULT_MAX_BYTES: MAX_BYTES,
      DEFAULT_MAX_LINES: MAX_LINES,
      getAgentDir: () => host.agentDir,
      getPackageDir: () => host.packageDir(),
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
      SettingsManager: settingsManagerFor(host),
      ...Object.fromEntries(UNAVAILABLE.split(" ").map((name) => [name, unavailable(name)])),
      ...Object.fromEntries(UNAVAILABLE_CLASSES.split(" ").map((name) => [name, unavailableClass(name)])),
    },
    CODING_AGENT_PARTS,
    host,
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
