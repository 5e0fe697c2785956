import { describe, expect, test } from "vitest";
import { FakeClock } from "../../../../test/support/fake-clock.ts";
import type { ExtensionActions } from "./actions.ts";
import { createExtensionHost } from "./extension-host.ts";
import { NOT_YET, STALE } from "./messages.ts";

type Api = Record<string, (...given: unknown[]) => unknown>;
type Factory = (pi: Api) => unknown;
type Handler = (event: Record<string, unknown>, ctx: Context) => unknown;
type Context = Record<string, unknown> & {
  newSession(how: object): Promise<unknown>;
  sendMessage(message: object): Promise<void>;
};

/** Extensions /1.ts, /2.ts, ... in a session that notes what is done to it. */
async function desk(...factories: Factory[]) {
  const notes: string[] = [];
  const counts = { loads: 0 };
  const errors: string[] = [];
  const clock = new FakeClock();
  const host = await createExtensionHost({
    async load() {
      counts.loads += 1;
      return factories.map((factory, index) => ({
        source: { path: `/${index + 1}.ts`, source: "cli", scope: "temporary", origin: "top-level" } as const,
        factory: factory as never,
      }));
    },
    limitMs: 1000,
    hookLimitMs: 0,
    clock,
    enter: () => () => undefined,
    report: ({ extensionPath, event, error }) => void errors.push(`${extensionPath} ${event}: ${error}`),
    notice: () => undefined,
    theme: {},
    extras: () => ({}),
    flagValue: () => undefined,
    onStarted: ({ skillPaths }) => void notes.push(`started ${skillPaths.length}`),
    onEnded: () => void notes.push("ended"),
    onProviders: (providers) => void notes.push(`providers ${providers.splice(0).map(({ name }) => name)}`),
  });
  const actions = {
    cwd: () => "/sea",
    appendEntry: (type: string) => notes.push(`entry ${type}`),
    renewMcpServers: (servers: { name: string }[]) => {
      if (servers.length > 0) notes.push(`servers ${servers.map(({ name }) => name)}`);
    },
    registerProvider: (name: string) => notes.push(`provider ${name}`),
    sendMessage: async (message: { content: string }) => void notes.push(`message ${message.content}`),
    newSession: async () => {
      await host.hooks.leave("new", undefined);
      await host.hooks.entered("new", "old.jsonl");
      return { cancelled: false };
    },
  } as unknown as ExtensionActions;
  return { host, actions, notes, errors, counts, clock };
}

const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const attempt = (act: () => unknown): string => {
  try {
    return `did ${act()}`;
  } catch (error) {
    return (error as Error).message;
  }
};

describe("the extensions of a session", () => {
  test("can register from the beginning, and act when they are bound to it", async () => {
    const apis: Api[] = [];
    const seen: string[] = [];
    const { host, actions, notes } = await desk((pi) => {
      apis.push(pi);
      seen.push(attempt(() => pi.appendEntry?.("early")));
      pi.registerProvider?.("lighthouse", {});
      pi.registerMcpServer?.("deck", {});
    });
    expect([seen, notes]).toEqual([[NOT_YET], []]);
    host.bind(actions);
    apis[0]?.appendEntry?.("late");
    apis[0]?.registerProvider?.("beacon", {});
    expect(notes).toEqual(["providers lighthouse", "servers deck", "entry late", "provider beacon"]);
  });

  test("are told that it begins, and say where more texts lie", async () => {
    const told: unknown[] = [];
    const { host, actions, notes } = await desk((pi) => {
      pi.on?.("session_start", ((event) => void told.push(event.reason)) satisfies Handler);
      pi.on?.("resources_discover", (() => ({ skillPaths: ["/skills"] })) satisfies Handler);
    });
    host.bind(actions);
    host.begin();
    await host.started();
    expect([told, notes.at(-1)]).toEqual([["startup"], "started 1"]);
  });

  test("are loaded anew for another one: what they had is of no use any more, also while the new ones load", async () => {
    const apis: Api[] = [];
    const seen: string[] = [];
    const told: unknown[] = [];
    const { host, actions, counts } = await desk((pi) => {
      apis.push(pi);
      seen.push(attempt(() => pi.appendEntry?.("early")));
      for (const name of ["session_start", "session_switch", "session_shutdown"]) {
        const note: Handler = ({ type, reason, previousSessionFile }) =>
          void told.push([type, reason, previousSessionFile]);
        pi.on?.(name, note);
      }
    });
    host.bind(actions);
    await host.hooks.leave("new", undefined);
    await host.hooks.entered("new", "old.jsonl");
    expect(counts.loads).toBe(2);
    expect(seen).toEqual([NOT_YET, NOT_YET]);
    expect(told).toEqual([
      ["session_shutdown", "new", undefined],
      ["session_start", "new", "old.jsonl"],
      ["session_switch", "new", "old.jsonl"],
    ]);
    expect(attempt(() => apis[0]?.appendEntry?.("x"))).toBe(STALE);
    expect(attempt(() => apis[1]?.appendEntry?.("x"))).toMatch(/^did/);
  });

  test("are loaded anew by a reload, in the same session", async () => {
    const told: unknown[] = [];
    const { host, actions, counts } = await desk((pi) => {
      for (const name of ["session_start", "session_shutdown"])
        pi.on?.(name, (({ type, reason }) => void told.push([type, reason])) satisfies Handler);
    });
    host.bind(actions);
    await host.reload(() => void told.push("loaded"));
    expect([counts.loads, told]).toEqual([2, [["session_shutdown", "reload"], "loaded", ["session_start", "reload"]]]);
  });

  test("while a reload loads them nobody is asked: who wants to waits for those that come", async () => {
    const asked: string[] = [];
    let load = (): void => undefined;
    let count = 0;
    const { host, actions, errors } = await desk(async (pi) => {
      count += 1;
      const own = count;
      pi.on?.("tool_call", ((_event, ctx) => {
        asked.push(`${own} in ${ctx.cwd}`);
        return { block: true, reason: `of ${own}` };
      }) satisfies Handler);
      pi.on?.("session_shutdown", (() => void asked.push(`${own} shuts down`)) satisfies Handler);
      if (own === 2) await new Promise<void>((resolve) => (load = resolve));
    });
    host.bind(actions);
    const reloaded = host.reload(() => undefined);
    await breathe();
    const verdict = host.hooks.run("tool_call", { toolName: "read", toolCallId: "1", input: {} });
    const given = new AbortController();
    const aborted = host.hooks.run("tool_call", { toolName: "read", toolCallId: "2", input: {} }, given.signal);
    given.abort();
    // Who does not wait any more is not answered by those who are on their way out.
    expect(await aborted).toEqual({});
    expect(asked).toEqual(["1 shuts down"]);
    load();
    await reloaded;
    expect(await verdict).toEqual({ block: "of 2" });
    expect([asked, errors]).toEqual([["1 shuts down", "2 in /sea"], []]);
  });

  test("what they were asked before a reload they still answer, all of them, and then they are of no use", async () => {
    let answer = (): void => undefined;
    const contexts: Context[] = [];
    const seen: string[] = [];
    const slow: Handler = async (_event, ctx) => {
      contexts.push(ctx);
      await new Promise<void>((resolve) => (answer = resolve));
      seen.push(`slow, ${attempt(() => ctx.cwd)}`);
    };
    const { host, actions } = await desk(
      (pi) => pi.on?.("tool_call", slow),
      (pi) => pi.on?.("tool_call", ((_event, ctx) => void seen.push(`next, ${attempt(() => ctx.cwd)}`)) as Handler),
    );
    host.bind(actions);
    const verdict = host.hooks.run("tool_call", { toolName: "read", toolCallId: "1", input: {} });
    await breathe();
    await host.reload(() => undefined);
    answer();
    expect(await verdict).toEqual({});
    expect(seen).toEqual(["slow, did /sea", "next, did /sea"]);
    expect(attempt(() => contexts[0]?.cwd)).toBe(STALE);
  });

  test("are left when they have heard what happened; what they have not heard then is not told to the next ones", async () => {
    const heard: string[] = [];
    let count = 0;
    const { host, actions, clock } = await desk((pi) => {
      count += 1;
      const own = count;
      const note =
        (name: string): Handler =>
        () =>
          void heard.push(`${own} ${name}`);
      pi.on?.("agent_start", (async () => breathe().then(() => heard.push(`${own} agent_start`))) satisfies Handler);
      const hang: Handler = (event) => {
        note("hangs")(event, {} as Context);
        return new Promise(() => undefined);
      };
      pi.on?.("agent_end", hang);
      for (const name of ["turn_start", "session_shutdown"]) pi.on?.(name, note(name));
    });
    host.bind(actions);
    void host.hooks.observe({ type: "agent_start" }, undefined);
    await host.hooks.leave("new", undefined);
    await host.hooks.entered("new", "old.jsonl");
    expect(heard.splice(0)).toEqual(["1 agent_start", "1 session_shutdown"]);
    void host.hooks.observe({ type: "agent_end", messages: [], willRetry: false } as never, undefined);
    void host.hooks.observe({ type: "turn_start" }, undefined);
    await breathe();
    const left = host.hooks.leave("new", undefined);
    await clock.advance(1000);
    await left;
    await host.hooks.entered("new", "older.jsonl");
    await clock.advance(60_000);
    expect(heard).toEqual(["2 hangs", "2 session_shutdown"]);
  });
});

describe("a command", () => {
  test("is found by its name and gets what stands behind it", async () => {
    const got: unknown[] = [];
    const { host, actions } = await desk((pi) =>
      pi.registerCommand?.("berth", { handler: (args: string) => got.push(args) }),
    );
    host.bind(actions);
    expect(host.command("/mooring here")).toBeUndefined();
    expect(host.command("berth here")).toBeUndefined();
    expect(host.command("/berth here")?.name).toBe("berth");
    await host.command("/berth here and there")?.run();
    await host.command("/berth")?.run();
    expect(got).toEqual(["here and there", ""]);
  });

  test("that throws is told, under the name of the command", async () => {
    const { host, actions, errors } = await desk((pi) =>
      pi.registerCommand?.("mutiny", { handler: async () => Promise.reject(new Error("no")) }),
    );
    host.bind(actions);
    await host.command("/mutiny")?.run();
    expect(errors).toEqual(["command:mutiny command: no"]);
  });

  test("that leaves the session goes on in the one it has entered", async () => {
    const seen: string[] = [];
    const handler = async (_args: string, ctx: Context): Promise<void> => {
      await ctx.newSession({
        withSession: async (entered: Context) => {
          seen.push(`entered ${entered.cwd}`);
          await entered.sendMessage({ customType: "a", content: "ahoy", display: true });
          seen.push(attempt(() => entered.sendMessage({ customType: "", content: "", display: true })));
        },
      });
      seen.push(attempt(() => ctx.cwd));
    };
    const { host, actions, notes } = await desk((pi) => pi.registerCommand?.("sail", { handler }));
    host.bind(actions);
    await host.command("/sail")?.run();
    expect(seen).toEqual(["entered /sea", "sendMessage: message.customType must be a text", STALE]);
    expect(notes).toContain("message ahoy");
  });
});
