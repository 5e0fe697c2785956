import { existsSync } from "node:fs";
import { join } from "node:path";
import { plainKeyVariable } from "@tiller/ai/auth";
import { ProviderError } from "@tiller/ai/errors";
import { trustedCertificates } from "@tiller/ai/http/certificates";
import { proxyFor } from "@tiller/ai/http/proxy-settings";
import type { ModelRegistry } from "@tiller/ai/model-registry";
import { MODELS_NAMES } from "../config/models-file.ts";
import type { Env } from "../config/paths.ts";
import type { SetUp } from "../set-up.ts";
import type { Check } from "./check.ts";

/** What can be told without asking any server. */

const FILES = ["settings.json", ...MODELS_NAMES, "auth.json"];

/** Each file that is there with what is wrong in it; then what is wrong elsewhere. */
export function fileChecks({ agentDir, problems }: SetUp): Check[] {
  const area = "files" as const;
  const left = new Set(problems);
  const checks = FILES.flatMap((name): Check[] => {
    const path = join(agentDir, name);
    if (!existsSync(path)) return [];
    const own = problems.filter((problem) => problem.startsWith(`${path}:`));
    for (const problem of own) left.delete(problem);
    return own.length === 0
      ? [{ area, subject: name, level: "ok", text: "read" }]
      : own.map((problem) => ({ area, subject: name, ...problemIn(problem.slice(path.length + 1)) }));
  });
  const others = [...left].map((text): Check => ({ area, subject: "set-up", level: "warning", text }));
  if (checks.length > 0) return [...checks, ...others];
  const text = existsSync(agentDir)
    ? "has no settings.json, models.json or auth.json, which is fine"
    : "does not exist, which is fine";
  return [{ area, subject: agentDir, level: "info", text: `${text}: keys may come from the environment` }, ...others];
}

/** What has a place in a file is left out of use; the rest is only worth a look. */
function problemIn(rest: string): Pick<Check, "level" | "text"> {
  const place = /^(\d+):(\d+): /.exec(rest);
  if (!place) return { level: "warning", text: rest.trim() };
  return { level: "problem", text: `line ${place[1]}, column ${place[2]}: ${rest.slice(place[0].length)}` };
}

/** Where keys were found; never what they are. */
export function keyChecks(registry: ModelRegistry): Check[] {
  const area = "keys" as const;
  const checks = registry.providers().flatMap((provider): Check[] => {
    const state = registry.provider(provider);
    if (!state) return [];
    const address = "missing" in state.baseUrl ? state.baseUrl.missing : undefined;
    if ("source" in state.key) {
      if (address === undefined) return [{ area, subject: provider, level: "ok", text: `from ${state.key.source}` }];
      const text = `from ${state.key.source}, but the address is not known`;
      return [{ area, subject: provider, level: "warning", text, advice: `set ${address}` }];
    }
    if (state.key.missing !== "") return [{ area, subject: provider, level: "warning", text: state.key.missing }];
    if (state.keyless && state.configured) return [{ area, subject: provider, level: "ok", text: "needs none" }];
    if (!state.configured) return [];
    const variable = plainKeyVariable(provider);
    const advice = `${variable ? `set ${variable}, or ` : ""}add an apiKey to models.json; "auth": "none" if it needs none`;
    return [{ area, subject: provider, level: "warning", text: "none found", advice }];
  });
  return checks.length > 0 ? checks : [{ area, subject: "providers", level: "info", text: "no key was found" }];
}

/** The proxies that requests would take, and certificates of one's own. */
export function networkChecks(registry: ModelRegistry, env: Env, isOffline: boolean): Check[] {
  const area = "network" as const;
  const checks: Check[] = [];
  if (isOffline) checks.push({ area, subject: "servers", level: "info", text: "not asked (--offline or PI_OFFLINE)" });
  const seen = new Set<string>();
  for (const provider of registry.providers()) {
    const state = registry.provider(provider);
    if (!state || !("url" in state.baseUrl) || !URL.canParse(state.baseUrl.url)) continue;
    const check = proxyCheck(new URL(state.baseUrl.url), env);
    if (!check || seen.has(check.subject)) continue;
    seen.add(check.subject);
    checks.push({ area, ...check });
  }
  for (const [name, level] of CERTIFICATE_VARIABLES) {
    const file = env[name];
    if (!file) continue;
    const problem = certificateProblem(name, file);
    checks.push({
      area,
      subject: name,
      ...(problem === undefined ? { level: "ok", text: `certificates from ${file}` } : { level, text: problem }),
    });
  }
  return checks;
}

/** Node goes on without a file it cannot read; ours are wanted, so no request is made without them. */
const CERTIFICATE_VARIABLES = [
  ["NODE_EXTRA_CA_CERTS", "warning"],
  ["SSL_CERT_FILE", "problem"],
  ["TILLER_CA_FILE", "problem"],
] as const;

function certificateProblem(name: string, file: string): string | undefined {
  try {
    // Read in the same way whatever the variable: as it is read for a request.
    trustedCertificates({ TILLER_CA_FILE: file });
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).replace("TILLER_CA_FILE", name);
  }
}

function proxyCheck(url: URL, env: Env): Pick<Check, "subject" | "level" | "text"> | undefined {
  try {
    const proxy = proxyFor(url, env);
    return proxy && { subject: proxy.variable, level: "ok", text: `requests go through ${proxy.name}` };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { subject: "proxy", level: "problem", text: error.message };
  }
}

/** The model that a prompt would go to now. */
export function modelCheck({ models, agentDir }: SetUp): Check {
  const about = { area: "model" } as const;
  const { model, reason } = models;
  if (!model) return { ...about, subject: "none", level: "problem", text: reason, advice: models.unusable(null) };
  const subject = `${model.provider}/${model.id}`;
  const why = models.unusable(model);
  if (why !== undefined)
    return { ...about, subject, level: "problem", text: `${reason}, but it cannot be asked`, advice: why };
  if (models.notices.length > 0) {
    const text = "nothing else is configured, and it is no language model";
    return { ...about, subject, level: "problem", text, advice: firstSteps(agentDir) };
  }
  return { ...about, subject, level: "ok", text: `would be asked now: ${reason}` };
}

function firstSteps(agentDir: string): string {
  return `set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY; or start Ollama and use --model ollama/NAME; or describe your server in ${join(agentDir, "models.json")}`;
}
