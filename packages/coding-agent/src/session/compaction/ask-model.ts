import type { AgentPorts, Credentials } from "@tiller/agent/types";
import { createAssembly, excessOf } from "@tiller/ai/assemble";
import { ProviderError } from "@tiller/ai/errors";
import { askedModel } from "@tiller/ai/model-secrets";
import type { Delta, DeltaStream } from "@tiller/ai/provider";
import { guardStream } from "@tiller/ai/stream";
import type { Usage } from "@tiller/protocol/message";
import { sleep } from "../../lib/clock.ts";
import { type RetrySettings, retryDelay } from "../retry-policy.ts";
import type { AskModel } from "./summarize.ts";

type Ports = Pick<AgentPorts, "model" | "thinkingLevel" | "credentials" | "stream" | "cwd" | "clock">;
type Request = Parameters<AskModel>[0];

export interface AskModelOptions {
  ports: Ports;
  /** Undefined while retrying is switched off. */
  retrySettings(): RetrySettings | undefined;
  /** From 0 to 1. */
  lot(): number;
  /** A passing failure; it is tried again after a pause. */
  onRetry(text: string): void;
  /** What was spent, also by attempts that failed. */
  onUsage(usage: Usage): void;
}

const MOST_RETRIES = 2;

/** Asks the current model one question, without tools. */
export function createAskModel(options: AskModelOptions): AskModel {
  const { ports, onUsage, onRetry, lot } = options;
  return async (request, signal) => {
    for (let attempt = 1; ; attempt++) {
      const answer = await askOnce(ports, request, signal);
      if (answer.usage.totalTokens > 0) onUsage(answer.usage);
      if (!answer.error) return { text: answer.text, usage: answer.usage };
      const settings = answer.error.retryable && !signal.aborted ? options.retrySettings() : undefined;
      const most = Math.min(settings?.maxRetries ?? 0, MOST_RETRIES);
      const delayMs = settings && attempt <= most ? retryDelay(attempt, answer.error, settings, lot()) : undefined;
      if (delayMs === undefined) return { error: answer.error };
      onRetry(
        `The summary failed (${answer.error.message}); trying again in ${delayMs / 1000} s, ${attempt} of ${most}`,
      );
      await sleep(ports.clock, delayMs, signal);
      if (signal.aborted) return { error: new ProviderError("aborted", "Request was aborted") };
    }
  };
}

async function askOnce(
  ports: Ports,
  request: Request,
  signal: AbortSignal,
): Promise<{ text: string; usage: Usage; error?: ProviderError }> {
  const assembly = createAssembly(ports.model(), ports.clock.now());
  let last: Extract<Delta, { type: "done" | "error" }> | undefined;
  // The guard ends the stream with exactly one `done` or `error`, at once when it is aborted.
  for await (const batch of guardStream(() => openStream(ports, request, signal), signal)) {
    for (const delta of batch) {
      if (delta.type === "done" || delta.type === "error") last = delta;
      else assembly.apply(delta);
    }
    const excess = excessOf(assembly, ports.model(), last);
    if (excess) {
      last = { type: "error", error: excess };
      break;
    }
  }
  if (last?.type === "error") assembly.fail(last.error);
  else assembly.finish(last?.stopReason ?? "stop");
  const { content, usage } = assembly.message;
  const text = content.map((block) => (block.type === "text" ? block.text : "")).join("");
  return { text, usage, error: last?.type === "error" ? last.error : undefined };
}

async function openStream(ports: Ports, request: Request, signal: AbortSignal): Promise<DeltaStream> {
  const model = ports.model();
  const { apiKey, headers, ...secrets }: Credentials = await ports.credentials(model);
  return ports.stream({
    ...request,
    model: askedModel(model, secrets),
    tools: [],
    thinkingLevel: ports.thinkingLevel(),
    apiKey,
    headers,
    cwd: ports.cwd,
    clock: ports.clock,
    signal,
  });
}
