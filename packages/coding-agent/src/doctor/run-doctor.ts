import type { Clock } from "@tiller/protocol/clock";
import { type AskedServer, type AskServer, createAskServer } from "../ask-server.ts";
import type { Env } from "../config/paths.ts";
import type { SetUp } from "../set-up.ts";
import type { Check, DoctorReport } from "./check.ts";
import { mcpChecks } from "./mcp-checks.ts";
import { packageChecks } from "./package-checks.ts";
import { askServers, serverCheck, serversToAsk } from "./server-checks.ts";
import { fileChecks, keyChecks, modelCheck, networkChecks } from "./set-up-checks.ts";

/** `tiller doctor`: looks at the whole set-up and says what works, what does not and what to do about it. */

const PATIENCE_MS = 5_000;

export interface DoctorInputs {
  setUp: SetUp;
  version: string;
  env: Env;
  clock: Clock;
  /** Ask no server. */
  isOffline: boolean;
  /** In tests. */
  ask?: AskServer;
}

export async function runDoctor(inputs: DoctorInputs): Promise<DoctorReport> {
  const { setUp, version, env, clock, isOffline } = inputs;
  const { registry } = setUp.models;
  const ask = inputs.ask ?? createAskServer({ env, clock, timeoutMs: PATIENCE_MS });
  const servers = isOffline ? [] : await askServers(registry, ask, serversToAsk(registry));
  const inUse = setUp.models.model?.provider;
  const packages = packageChecks(registry, setUp.models.model);
  const checks = [
    ...fileChecks(setUp),
    ...keyChecks(registry),
    ...networkChecks(registry, env, isOffline),
    ...packages,
    ...servers
      .filter(
        ({ provider, answer }) => answer.kind !== "unasked" || !packages.some(({ subject }) => subject === provider),
      )
      .map((server) => serverCheck(server, server.provider === inUse)),
    ...mcpChecks(setUp, env),
    withLocalAdvice(modelCheck(setUp), servers),
    ...unlistedCheck(setUp, servers),
  ];
  return {
    version,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    agentDir: setUp.agentDir,
    checks,
    ok: checks.every(({ level }) => level !== "problem"),
  };
}

/** Somebody without a key may have a server running already: then that is the quickest way. */
function withLocalAdvice(check: Check, servers: readonly AskedServer[]): Check {
  if (check.level !== "problem" || !check.subject.startsWith("offline/")) return check;
  const running = servers.flatMap(({ provider, answer }) =>
    answer.kind === "models" ? answer.models.map(({ id }) => `${provider}/${id}`) : [],
  )[0];
  return running === undefined ? check : { ...check, advice: `use the model that is there: --model ${running}` };
}

/** A server that lists its models, but not this one, will most likely not answer for it. */
function unlistedCheck({ models }: SetUp, servers: readonly AskedServer[]): Check[] {
  const { model } = models;
  const answer = servers.find(({ provider }) => provider === model?.provider)?.answer;
  if (!model || answer?.kind !== "models" || answer.models.length === 0) return [];
  if (models.registry.isFirstOf(model)) {
    const text = `the first one of the server would be taken: ${model.provider}/${answer.models[0]?.id}`;
    return [{ area: "model", subject: model.provider, level: "info", text }];
  }
  if (answer.models.some(({ id }) => id === model.id || id === `${model.id}:latest`)) return [];
  const some = answer.models.slice(0, 5).map(({ id }) => id);
  const text = `the server does not list it; it has ${some.join(", ")}${answer.models.length > 5 ? ", ..." : ""}`;
  return [{ area: "model", subject: `${model.provider}/${model.id}`, level: "warning", text }];
}
