import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProviderError } from "@tiller/ai/errors";
import type { Delta, ModelRequest } from "@tiller/ai/provider";
import { testModel } from "@tiller/ai/testing";
import type { LlmMessage } from "@tiller/protocol/message";
import type { Model } from "@tiller/protocol/model";
import { createIdSource, systemClock } from "../lib/clock.ts";
import type { CompatHost } from "./host.ts";

/** For tests: a host with a folder of its own and a model that says what it is told to. */
export interface TestHost extends CompatHost {
  readonly root: string;
  readonly model: Model;
  /** What the model was asked, in order. */
  readonly asked: ModelRequest[];
  readonly standIns: string[];
  readonly lines: string[];
  remove(): void;
}

export const SAYS_HELLO: readonly Delta[] = [
  { type: "open", index: 0, block: { type: "text" } },
  { type: "grow", index: 0, text: "Hello " },
  { type: "grow", index: 0, text: "you" },
  { type: "close", index: 0 },
  { type: "usage", input: 10, output: 2 },
  { type: "done", stopReason: "stop" },
];

export function createTestHost(deltas: readonly Delta[] = SAYS_HELLO, fields: Partial<CompatHost> = {}): TestHost {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tiller-compat-")));
  const model = testModel();
  const [asked, standIns, lines]: [ModelRequest[], string[], string[]] = [[], [], []];
  const find = (provider: string, id: string) => (provider === model.provider && id === model.id ? model : undefined);
  return {
    root,
    packageDir: () => join(root, "product"),
    model,
    asked,
    standIns,
    lines,
    version: "1.2.3",
    agentDir: join(root, "agent"),
    cwd: root,
    env: { PATH: "/usr/bin:/bin", HOME: root, ANTHROPIC_API_KEY: "from-env" },
    clock: systemClock,
    ids: createIdSource(systemClock),
    models: {
      all: () => [model],
      available: () => [model],
      find,
      modelsOf: (provider) => (provider === model.provider ? [model] : []),
      providers: () => [model.provider],
      hasCredentials: () => true,
      credentials: () => ({ apiKey: "ours", headers: { "x-own": "1" } }),
      providerCredentials(provider) {
        if (provider === model.provider) return { apiKey: "ours" };
        throw new ProviderError("auth", `No key for ${provider}`);
      },
    },
    async *stream(request) {
      asked.push(request);
      yield deltas;
    },
    conversation: async () => ({
      toLlm: (messages) => messages as LlmMessage[],
      serialise: (messages) => messages.map((message) => `[${message.role}]`),
      estimateTokens: () => 7,
    }),
    setting: (key) => (key === "retry.enabled" ? true : undefined),
    log: (line) => void lines.push(line),
    onStandIn: (name) => void standIns.push(name),
    remove: () => rmSync(root, { recursive: true, force: true }),
    ...fields,
  };
}
