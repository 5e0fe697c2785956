import { expect, test } from "vitest";
import { API_FAMILIES } from "./api-families.ts";
import { ProviderError } from "./errors.ts";
import type { Delta, DeltaStream } from "./provider.ts";
import { guardStream, streamAssistant } from "./stream.ts";
import { collect, testModel, testRequest } from "./testing.ts";

const done: Delta = { type: "done", stopReason: "stop" };
const grow: Delta = { type: "grow", index: 0, text: "a" };
const signal = (): AbortSignal => new AbortController().signal;

async function* of(...batches: Delta[][]): DeltaStream {
  yield* batches;
}

function guarded(stream: DeltaStream, abort: AbortSignal = signal()): DeltaStream {
  return guardStream(() => Promise.resolve(stream), abort);
}

test("a good stream passes unchanged, batch by batch", async () => {
  const batches = [[grow], [grow, grow], [done]];
  const seen: (readonly Delta[])[] = [];
  for await (const batch of guarded(of(...batches))) seen.push(batch);
  expect(seen).toEqual(batches);
});

test("nothing comes after the first end", async () => {
  expect(await collect(guarded(of([done], [grow], [done])))).toEqual([done]);
});

test("a stream that stops in the middle ends with an error", async () => {
  expect(await collect(guarded(of([grow])))).toMatchObject([grow, { type: "error", error: { kind: "malformed" } }]);
});

test("whatever a provider throws becomes an error delta", async () => {
  async function* broken(error: unknown): DeltaStream {
    yield [grow];
    throw error;
  }
  const own = new ProviderError("overloaded", "Busy");
  expect(await collect(guarded(broken(own)))).toEqual([grow, { type: "error", error: own }]);
  expect(await collect(guarded(broken(new TypeError("oops"))))).toMatchObject([
    grow,
    { type: "error", error: { kind: "malformed", message: "The provider failed unexpectedly: oops" } },
  ]);
  expect(await collect(guardStream(() => Promise.reject(own), signal()))).toEqual([{ type: "error", error: own }]);
});

test("an abort ends the stream at once, even when the provider does not listen", async () => {
  let returned = false;
  const deaf: DeltaStream = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => undefined),
      return: () => {
        returned = true;
        return new Promise(() => undefined);
      },
    }),
  };
  const controller = new AbortController();
  const deltas = collect(guarded(deaf, controller.signal));
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  const aborted = { type: "error", error: { kind: "aborted", message: "Request was aborted" } };
  expect(await deltas).toMatchObject([aborted]);
  expect(returned).toBe(true);
  expect(await collect(guarded(of([done]), AbortSignal.abort()))).toMatchObject([aborted]);
});

test("an abort between two batches is seen before the next one", async () => {
  const controller = new AbortController();
  const seen: Delta[] = [];
  for await (const batch of guarded(of([grow], [grow], [done]), controller.signal)) {
    seen.push(...batch);
    controller.abort();
  }
  expect(seen).toMatchObject([grow, { type: "error", error: { kind: "aborted" } }]);
});

test("an abort while a provider is still loading closes it when it comes", async () => {
  let returned = false;
  let arrive: (stream: DeltaStream) => void = () => undefined;
  const late: DeltaStream = {
    [Symbol.asyncIterator]: () => ({
      next: () => Promise.resolve({ done: false, value: [done] }),
      return: () => {
        returned = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    }),
  };
  const controller = new AbortController();
  const opening = new Promise<DeltaStream>((resolve) => {
    arrive = resolve;
  });
  const deltas = collect(guardStream(() => opening, controller.signal));
  controller.abort();
  expect(await deltas).toMatchObject([{ type: "error", error: { kind: "aborted" } }]);
  arrive(late);
  await new Promise((resolve) => setImmediate(resolve));
  expect(returned).toBe(true);
});

test("a reader that stops early closes the provider", async () => {
  let closed = false;
  async function* endless(): DeltaStream {
    try {
      for (;;) yield [grow];
    } finally {
      closed = true;
    }
  }
  for await (const _ of guarded(endless())) break;
  await new Promise((resolve) => setImmediate(resolve));
  expect(closed).toBe(true);
});

test.each(["openai-chat", "toString", ""])(
  "a family that is not spoken (%j) is told with those that are",
  async (api) => {
    const [delta, ...more] = await collect(streamAssistant(testRequest({ model: testModel({ api }) })));
    expect(more).toEqual([]);
    expect(delta).toMatchObject({ type: "error", error: { kind: "bad_request" } });
    expect((delta as { error: Error }).error.message).toBe(
      `Model anthropic/claude-test uses the API family "${api}", which this version does not speak. Known families: ${API_FAMILIES.join(", ")}.`,
    );
  },
);
