import { spokenBy } from "@tiller/ai/model-secrets";
import type { ModelRequest } from "@tiller/ai/provider";
import { collect, testRequest } from "@tiller/ai/testing";
import type { Model } from "@tiller/protocol/model";
import { describe, expect, test } from "vitest";
import { createMachinery, type MachineryOptions } from "./run-machinery.ts";
import type { HookEvent, HookName, SessionHooks } from "./session/ports.ts";
import { createToolbox } from "./toolbox.ts";

const machineryWith = (more: Partial<MachineryOptions> = {}) =>
  createMachinery({
    cwd: "/project",
    env: {},
    clock: { now: () => 7, after: () => () => undefined },
    messages: () => [],
    model: () => ({ provider: "offline", id: "scout" }) as Model,
    thinkingLevel: () => "off",
    credentials: () => ({}),
    toolbox: createToolbox({ noTools: true }),
    systemPrompt: { append: [] },
    request: {},
    ...more,
  });

test("the system prompt stays the same past midnight", () => {
  let now = Date.parse("2026-11-15T23:59:59Z");
  const { ports } = machineryWith({ clock: { now: () => now, after: () => () => undefined } });
  const before = ports.systemPrompt([]);
  now += 10_000;
  expect(before).toContain("2026-11-15");
  expect(ports.systemPrompt([])).toBe(before);
});

test("the tool that starts sub-agents says which there are; nobody looks for them where it is not offered", async () => {
  let asked = 0;
  const delegate = async () => {
    asked += 1;
    return { describe: async () => "Agents:\n- scribe: writes", run: async () => [] };
  };
  const toolsWith = async (tools: string[]) => {
    const { ports } = createMachinery({
      cwd: "/project",
      env: {},
      clock: { now: () => 0, after: () => () => undefined },
      messages: () => [],
      model: () => ({ provider: "p", id: "m" }) as Model,
      thinkingLevel: () => "off",
      credentials: () => ({}),
      toolbox: createToolbox({ tools }),
      delegate,
      systemPrompt: { append: [] },
      request: {},
    });
    return ports.tools();
  };
  expect((await toolsWith(["read"])).map(({ name }) => name)).toEqual(["read"]);
  expect(asked).toBe(0);
  const [read, task] = await toolsWith(["read", "task"]);
  expect([read?.name, task?.name]).toEqual(["read", "task"]);
  expect(task?.description).toMatch(/^Hand out work .*\n\nAgents:\n- scribe: writes$/s);
});

type Answers = { [K in HookName]?: (event: HookEvent<K>) => unknown };

const hooksWith = (answers: Answers): SessionHooks =>
  ({
    listens: (hook: HookName) => answers[hook] !== undefined,
    run: async (hook: HookName, event: never) => answers[hook]?.(event) ?? event,
    forAgent: () => undefined,
  }) as unknown as SessionHooks;

/** What a model is asked in the end. */
async function asked(answers: Answers, more: Partial<ModelRequest> = {}): Promise<ModelRequest> {
  const seen: ModelRequest[] = [];
  const plain = testRequest(more);
  const model = spokenBy({ ...plain.model }, async function* (request) {
    seen.push(request);
    yield [{ type: "done", stopReason: "stop" }];
  });
  const { ports } = machineryWith({ hooks: hooksWith(answers) });
  const request = { ...plain, model };
  await collect(ports.stream({ ...request, ...(await ports.lastLook?.(request)) }));
  return seen[0]!;
}

const user = (content: string) => ({ role: "user" as const, content, timestamp: 1 });

describe("headers", () => {
  test("are as they were while nobody listens", async () => {
    expect((await asked({}, { headers: { a: "1" } })).headers).toEqual({ a: "1" });
  });

  test("are those that extensions want, without what they take away", async () => {
    const change = ({ headers }: { headers: object }) => ({ headers: { ...headers, b: "2", a: null } });
    expect((await asked({ before_provider_headers: change }, { headers: { a: "1", c: "3" } })).headers).toEqual({
      b: "2",
      c: "3",
    });
  });

  test("may be changed in place, and there may be none before", async () => {
    const change = ({ headers }: { headers: Record<string, unknown> }) => void Object.assign(headers, { b: "2" });
    expect((await asked({ before_provider_headers: change })).headers).toEqual({ b: "2" });
  });
});

describe("the whole transcript", () => {
  const tools = ["read", "bash"].map((name) => ({ name, description: name, parameters: {} }));
  const about = { systemPrompt: "Be kind.", messages: [user("hi")], tools };

  test("begins with the system prompt and the tools, in copies", async () => {
    const seen: unknown[] = [];
    const look = ({ messages }: { messages: unknown[] }) =>
      void seen.push(structuredClone(messages), messages.push("x"));
    const { messages } = await asked({ context_with_system: look as never }, about);
    expect(seen[0]).toEqual([
      { role: "system", content: "Be kind.", toolsAdded: tools, timestamp: expect.any(Number) },
      user("hi"),
    ]);
    expect(about.messages).toEqual([user("hi")]);
    expect(messages).not.toBe(about.messages);
  });

  test("is sent as extensions give it back: other words, fewer tools, more to say at the end of the prompt", async () => {
    const system = { role: "system" as const, content: "Be brief.", toolsAdded: tools.slice(0, 1), timestamp: 0 };
    const later = { role: "system" as const, content: "And polite.", timestamp: 0 };
    const custom = { role: "custom", customType: "n", content: "more", display: true, timestamp: 2 } as const;
    const given = { messages: [system, user("ho"), later, custom] };
    const request = await asked({ context_with_system: () => given }, about);
    expect(request.systemPrompt).toBe("Be brief.\n\nAnd polite.");
    expect(request.tools.map(({ name }) => name)).toEqual(["read"]);
    expect(request.messages).toEqual([
      user("ho"),
      { ...user(""), content: [{ type: "text", text: "more" }], timestamp: 2 },
    ]);
  });

  test("is not even made while nobody listens", () => {
    const { ports } = machineryWith({ hooks: hooksWith({}) });
    expect(ports.lastLook?.(testRequest({}))).toBeUndefined();
  });
});

test("who looks at what comes and goes is only there while somebody listens", async () => {
  const none = await asked({});
  expect([none.onPayload, none.onResponse, none.onEvent]).toEqual([undefined, undefined, undefined]);
  const seen: unknown[] = [];
  const { onEvent, model } = await asked({ provider_stream_event: (event) => void seen.push(event) });
  await onEvent?.({ a: 1 }, model);
  expect(seen).toEqual([{ data: { a: 1 } }]);
});
