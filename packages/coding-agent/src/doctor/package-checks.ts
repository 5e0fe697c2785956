import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { isAbsolute, join } from "node:path";
import type { ModelRegistry } from "@tiller/ai/model-registry";
import type { Model } from "@tiller/protocol/model";
import type { Check } from "./check.ts";

/** Are the packages there that models of the AI SDK need? One line for each provider and package. */
export function packageChecks(registry: ModelRegistry, inUse: Model | null): Check[] {
  const checks = new Map<string, Check>();
  for (const provider of registry.providers()) {
    for (const model of registry.modelsOf(provider)) {
      if (model.api !== "ai-sdk") continue;
      const isInUse = provider === inUse?.provider && model.id === inUse.id;
      const check = packageCheck(model, isInUse);
      const name = `${provider} ${check.text}`;
      if (isInUse || !checks.has(name)) checks.set(name, check);
    }
  }
  return [...checks.values()];
}

function packageCheck({ provider, compat }: Model, isInUse: boolean): Check {
  const about = { area: "servers", subject: provider } as const;
  const missing = isInUse ? "problem" : "warning";
  const { package: name, from } = compat ?? {};
  if (typeof name !== "string" || typeof from !== "string" || !isAbsolute(from)) {
    const text = "it does not say which package it needs";
    return { ...about, level: missing, text, advice: 'add "compat": {"package": "@ai-sdk/..."} to it in models.json' };
  }
  const home = name.split("/").slice(0, name.startsWith("@") ? 2 : 1);
  const folders = createRequire(join(from, "package.json")).resolve.paths(name) ?? [];
  if (folders.some((folder) => existsSync(join(folder, ...home, "package.json")))) {
    return { ...about, level: "ok", text: `the package ${name} is installed; it does its own networking` };
  }
  const advice = `cd ${from} && npm install ${home.join("/")}`;
  return { ...about, level: missing, text: `the package ${name} is not installed in ${from}`, advice };
}
