import { dirname } from "node:path";
import type { ModelRequest } from "@tiller/ai/provider";
import type { PromptLimits } from "@tiller/protocol/limits";
import { type Env, resolvePath, sessionFolder } from "./config/paths.ts";
import type { Settings } from "./config/settings.ts";
import type { SettingKey } from "./config/settings-schema.ts";
import type { ShellSettings } from "./exec/shell.ts";
import type { RetrySettings } from "./session/retry-policy.ts";
import type { RuleSettings } from "./stream-rules.ts";

/** From the settings to what a part wants to know. */

/** Zero means no limit. */
export function limitsOf(settings: Settings, scope: "prompt" | "session"): PromptLimits {
  return {
    turns: settings.get(`limits.${scope}.turns`) || undefined,
    toolCalls: settings.get(`limits.${scope}.toolCalls`) || undefined,
    cost: settings.get(`limits.${scope}.cost`) || undefined,
    tokens: settings.get(`limits.${scope}.tokens`) || undefined,
    wallTimeMs: settings.get(`limits.${scope}.wallTimeMs`) || undefined,
  };
}

/** Whether there is anything to ask or to forbid before a tool runs. */
export function asksApproval(settings: Settings): boolean {
  if (settings.get("approval.mode") !== "never") return true;
  return settings.get("approval.ask").length > 0 || settings.get("approval.deny").length > 0;
}

/** What a relative path in a setting counts from: the folder of the file that says it. */
export function baseOf(settings: Settings, key: SettingKey, agentDir: string): string {
  const { kind, name } = settings.origin(key);
  return kind === "project" && name !== undefined ? dirname(name) : agentDir;
}

export function rulesOf(settings: Settings): RuleSettings {
  return {
    contextMode: settings.get("ttsr.contextMode"),
    interruptMode: settings.get("ttsr.interruptMode"),
    repeatMode: settings.get("ttsr.repeatMode"),
    repeatGap: settings.get("ttsr.repeatGap"),
  };
}

export function retryOf(settings: Settings): RetrySettings {
  return {
    maxRetries: settings.get("retry.maxRetries"),
    baseDelayMs: settings.get("retry.baseDelayMs"),
    maxDelayMs: settings.get("retry.provider.maxRetryDelayMs"),
  };
}

/** What every request to a model says beside the conversation. */
export function requestOf(
  settings: Settings,
  session: { readonly sessionId: string },
): Pick<ModelRequest, "patience" | "cacheRetention" | "sessionId"> {
  return {
    patience: {
      firstByteMs: settings.get("retry.provider.timeoutMs"),
      idleMs: settings.get("retry.provider.idleTimeoutMs"),
    },
    cacheRetention: settings.get("cacheRetention"),
    get sessionId() {
      return session.sessionId;
    },
  };
}

/** Few want it, and only they pay for it. */
export async function imageBlock(settings: Settings): Promise<Blinds | undefined> {
  return settings.get("images.blockImages") ? (await import("./without-images.ts")).withoutImages : undefined;
}

type Blinds = typeof import("./without-images.ts").withoutImages;

export function shellOf(settings: Settings, cwd: string, env: Env): ShellSettings {
  const given = settings.get("shellPath");
  // A path counts from the working folder; a bare name is looked up by the system.
  const path = given?.includes("/") ? resolvePath(given, cwd, env) : given;
  return { path, prefix: settings.get("shellCommandPrefix") };
}

interface SessionPlace {
  agentDir: string;
  env: Env;
  settings: Settings;
}

/** Where the session files of a working folder lie. */
export function sessionDir({ agentDir, env, settings }: SessionPlace, cwd: string): string {
  return sessionFolder({ agentDir, cwd, env, sessionDir: settings.get("sessionDir") });
}
