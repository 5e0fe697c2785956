import { createAssembly, excessOf } from "@tiller/ai/assemble";
import { ProviderError } from "@tiller/ai/errors";
import { askedModel } from "@tiller/ai/model-secrets";
import type { Delta, DeltaStream, ModelRequest } from "@tiller/ai/provider";
import { guardStream } from "@tiller/ai/stream";
import type { AssistantMessage } from "@tiller/protocol/message";
import type { StreamEvent } from "@tiller/protocol/stream-event";
import { settled } from "./hooked.ts";
import { orAborted, tell } from "./tell.ts";
import type { AgentPorts, AgentTool, Credentials, Emit } from "./types.ts";

export interface TurnAnswer {
  message: AssistantMessage;
  /** Set when the message ended with "error" or "aborted". */
  error?: ProviderError;
  /** Who looked along has ended it; `error` says why. */
  interrupted?: true;
  /** Tool calls whose arguments were not JSON, by call id, with the reason to give the model. */
  broken: ReadonlyMap<string, { raw: string; error: string; isJson?: true }>;
}

/** One call of the model: request, deltas, final message. Never throws: a failure is a message that ends with "error". */
export async function assistantTurn(
  ports: AgentPorts,
  tools: readonly AgentTool[],
  emit: Emit,
  signal: AbortSignal,
): Promise<TurnAnswer> {
  const assembly = createAssembly(ports.model(), ports.clock.now());
  const { message } = assembly;
  const snapshot = () => {
    assembly.refresh();
    return message;
  };
  const update = (event: StreamEvent) => emit({ type: "message_update", event, snapshot });

  await tell(emit, { type: "message_start", message }, signal);
  const started = update(assembly.start());
  if (started) await orAborted(started, signal);

  const watch = ports.watch?.();
  let objection: string | undefined;
  let last: Extract<Delta, { type: "done" | "error" }> | undefined;
  let taken: ReturnType<typeof update>;
  /** Tells what comes until somebody has to be waited for or objects; returns where to go on. This runs once per token. */
  const tellFrom = (batch: readonly Delta[], start: number): number => {
    taken = undefined;
    for (let at = start; at < batch.length; at++) {
      const delta = batch[at] as Delta;
      if (delta.type === "done" || delta.type === "error") {
        last = delta;
        continue;
      }
      const event = assembly.apply(delta);
      if (!event) continue;
      taken = update(event);
      objection = watch?.(event);
      if (taken || objection !== undefined) return at + 1;
    }
    return batch.length;
  };
  for await (const batch of openStream(ports, tools, signal)) {
    for (let at = 0; at < batch.length; ) {
      at = tellFrom(batch, at);
      if (taken) await orAborted(taken, signal);
      if (objection !== undefined || (taken && signal.aborted)) break;
    }
    if (last?.type === "done") objection ??= watch?.({ type: "complete" });
    if (objection !== undefined) {
      last = { type: "error", error: new ProviderError("aborted", objection) };
      break;
    }
    const excess = excessOf(assembly, ports.model(), last);
    if (excess) {
      last = { type: "error", error: excess };
      break;
    }
  }

  const error = last?.type === "error" ? last.error : last ? undefined : noEnding(signal);
  const ending = error ? assembly.fail(error) : assembly.finish(last?.type === "done" ? last.stopReason : "stop");
  for (const event of ending) await tell(emit, { type: "message_update", event, snapshot }, signal);
  const hooks = ports.hooks?.();
  const used = hooks?.settle ? await settled(hooks, message, ports.clock, signal) : message;
  await tell(emit, { type: "message_end", message: used }, signal);
  const answer = { message: used, error, broken: assembly.brokenArguments };
  if (objection !== undefined) return { ...answer, interrupted: true };
  return used === message ? answer : asSettled(answer);
}

/** Another message took the place of the one that came: what is known of the old one holds as far as it fits the new one. */
function asSettled({ message, error, broken }: TurnAnswer): TurnAnswer {
  const hasFailed = message.stopReason === "error" || message.stopReason === "aborted";
  const kind = message.stopReason === "aborted" ? "aborted" : "bad_request";
  const found = error ?? new ProviderError(kind, message.errorMessage ?? "The answer was declared failed");
  const repaired = new Set(
    message.content.flatMap((block) =>
      block.type === "toolCall" && Object.keys(block.arguments).length > 0 ? [block.id] : [],
    ),
  );
  return {
    message,
    ...(hasFailed ? { error: found } : {}),
    broken: new Map([...broken].filter(([id]) => !repaired.has(id))),
  };
}

function noEnding(signal: AbortSignal): ProviderError {
  if (signal.aborted) return new ProviderError("aborted", "Request was aborted");
  return new ProviderError("malformed", "The model's answer ended without saying that it was complete");
}

function openStream(ports: AgentPorts, tools: readonly AgentTool[], signal: AbortSignal): DeltaStream {
  const model = ports.model();
  const ask = (
    { apiKey, headers, ...secrets }: Credentials,
    messages: Awaited<ReturnType<AgentPorts["context"]>>,
  ): DeltaStream => {
    const request: ModelRequest = {
      model: askedModel(model, secrets),
      systemPrompt: ports.systemPrompt(tools),
      messages,
      tools,
      thinkingLevel: ports.thinkingLevel(),
      apiKey,
      headers,
      cwd: ports.cwd,
      clock: ports.clock,
      signal,
    };
    const looked = ports.lastLook?.(request);
    if (!looked) return ports.stream(request);
    return guardStream(async () => ports.stream({ ...request, ...(await looked) }), signal);
  };
  try {
    const credentials = ports.credentials(model);
    const context = ports.context();
    if (!(credentials instanceof Promise || context instanceof Promise)) return ask(credentials, context);
    // A command may take seconds to give a key; after an abort nobody waits for it or for its failure.
    const both = Promise.all([credentials, context]);
    both.catch(() => undefined);
    return guardStream(async () => ask(...(await both)), signal);
  } catch (cause) {
    return failed(cause instanceof ProviderError ? cause : new ProviderError("bad_request", String(cause), { cause }));
  }
}

async function* failed(error: ProviderError): DeltaStream {
  yield [{ type: "error", error }];
}
