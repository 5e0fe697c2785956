import type { Clock } from "@tiller/protocol/clock";
import type { Model } from "@tiller/protocol/model";
import { type AskServer, createAskServer } from "../ask-server.ts";
import type { Env } from "../config/paths.ts";
import { modelTable } from "../model-list.ts";
import type { SetUp } from "../set-up.ts";
import { askServers } from "./server-checks.ts";

/** `tiller models`: what can be asked now, with the models of servers on this machine. */

const PATIENCE_MS = 2_000;

export interface ListInputs {
  setUp: SetUp;
  env: Env;
  clock: Clock;
  /** Only models whose name holds this. */
  search: string;
  /** Also those without a key. */
  isAll: boolean;
  isOffline: boolean;
  /** In tests. */
  ask?: AskServer;
}

export async function listModels(inputs: ListInputs): Promise<string> {
  const { setUp, env, clock, search, isAll, isOffline } = inputs;
  const { registry, model } = setUp.models;
  const known = isAll ? registry.all() : registry.available(model ?? undefined);
  const ask = inputs.ask ?? createAskServer({ env, clock, timeoutMs: PATIENCE_MS });
  const found = isOffline ? [] : await discovered(setUp, ask);
  const isKnown = ({ provider, id }: Model): boolean =>
    known.some((other) => other.provider === provider && other.id === id);
  const real = found.length > 0 && !isAll ? known.filter(({ provider }) => provider !== "offline") : known;
  return modelTable([...real, ...found.filter((other) => !isKnown(other))], {
    search,
    remark: (row) => (registry.hasCredentials(row) ? "" : "no key"),
  });
}

/** Only servers on this machine are asked: what others have stands in the catalogue. */
async function discovered(setUp: SetUp, ask: AskServer): Promise<Model[]> {
  const { registry } = setUp.models;
  const local = registry.providers().filter((id) => registry.provider(id)?.keyless || registry.provider(id)?.discovers);
  const servers = await askServers(registry, ask, local);
  return servers.flatMap(({ answer }) => (answer.kind === "models" ? answer.models : []));
}
