import type { AgentMessage } from "@tiller/protocol/message";
import type { Model, ThinkingLevel } from "@tiller/protocol/model";
import { describe, expect, it } from "vitest";
import { type Adoption, adoptSession, recordChoice } from "./adopt-session.ts";
import { createModelControl } from "./model-control.ts";
import type { SessionEvent } from "./session-event.ts";
import type { SessionDisk } from "./store/session-disk.ts";
import { createSessionStore } from "./store/session-store.ts";
import {
  assistant,
  countingIds,
  loadedLog,
  messageEntry,
  type PlainEntry,
  plain,
  stillClock,
  user,
} from "./store/test-sessions.ts";

const model = (id: string, reasoning = true): Model => ({
  id,
  name: id,
  api: "test",
  provider: "p",
  baseUrl: "",
  reasoning,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1000,
  maxTokens: 100,
});
const [one, two, dull] = [model("one"), model("two"), model("dull", false)];

interface Setting {
  lines: PlainEntry[];
  usable?: Model[];
  current?: Model | null;
  level?: ThinkingLevel;
  isInUse?: boolean;
}

function desk({ lines, usable = [one, two, dull], current = one, level = "medium", isInUse = false }: Setting) {
  const disk: SessionDisk = {
    path: "/s",
    isInUse,
    write: () => undefined,
    problem: () => undefined,
    endTurn: () => undefined,
    close: async () => undefined,
  };
  const first = { log: loadedLog(lines), path: "/s", disk };
  const store = createSessionStore({ clock: stillClock, ids: countingIds(), first });
  const wrong = (): never => {
    throw new Error("restoring a session is no choice of anybody's");
  };
  const models = createModelControl({
    source: {
      available: () => usable,
      find: (_provider, id) => usable.find((known) => known.id === id),
      named: () => undefined,
      refresh: () => undefined,
      describe: () => undefined,
    },
    initial: { model: current, thinkingLevel: level },
    scope: [],
    onModel: wrong,
    onThinkingLevel: wrong,
  });
  const events: SessionEvent[] = [];
  const options = { store, models, clock: stillClock, emit: (event: SessionEvent) => events.push(event) };
  return {
    store,
    models,
    events,
    adopt: (adoption: Adoption) => adoptSession(adoption, options),
    added: () =>
      store
        .branch()
        .slice(lines.length)
        .map(({ type }) => type),
  };
}

const choice = (modelId: string, thinkingLevel: string): PlainEntry[] => [
  plain("a", null, { type: "model_change", provider: "p", modelId }),
  plain("b", "a", { type: "thinking_level_change", thinkingLevel }),
];
const talk = (...messages: AgentMessage[]): PlainEntry[] =>
  messages.map((message, at) => messageEntry(`m${at}`, at === 0 ? "b" : `m${at - 1}`, message));

describe("a session that is gone on with", () => {
  it("has the model and the level that it was left with, and its file stays as it is", () => {
    const { adopt, models, events, added } = desk({
      lines: [...choice("two", "high"), ...talk(user("hi"), assistant("ho", { model: "two" }))],
    });
    expect(adopt({ how: "resume" })).toBe(false);
    expect([models.model, models.thinkingLevel]).toEqual([two, "high"]);
    expect(events).toEqual([{ type: "thinking_level_changed", level: "high" }]);
    expect(added()).toEqual([]);
  });

  it("tells nothing when nothing changes", () => {
    const { adopt, events } = desk({ lines: choice("one", "medium") });
    adopt({ how: "resume" });
    expect(events).toEqual([]);
  });

  it("keeps the model and the level that the command line has named", () => {
    const { adopt, models } = desk({ lines: choice("two", "high") });
    adopt({ how: "resume", keepsModel: true });
    expect([models.model, models.thinkingLevel]).toEqual([one, "high"]);
    const other = desk({ lines: choice("two", "high") });
    other.adopt({ how: "resume", keepsLevel: true });
    expect([other.models.model, other.models.thinkingLevel]).toEqual([two, "medium"]);
  });

  it("goes on with another model when its own cannot be used, and says so", () => {
    const { adopt, models, events } = desk({ lines: choice("lost", "high") });
    adopt({ how: "resume" });
    expect(models.model).toBe(one);
    expect(events).toMatchObject([
      {
        type: "notice",
        level: "warning",
        message: "p/lost, which this session was using, cannot be used here; p/one goes on",
      },
      { type: "thinking_level_changed" },
    ]);
    const none = desk({ lines: choice("lost", "high"), current: null });
    none.adopt({ how: "resume" });
    expect(none.events[0]).toMatchObject({
      message: expect.stringMatching(/cannot be used here; no model is selected$/),
    });
  });

  it("has a level that its model can have, and none that nobody knows", () => {
    const { adopt, models } = desk({ lines: choice("dull", "high") });
    adopt({ how: "resume" });
    expect(models.thinkingLevel).toBe("off");
    const unknown = desk({ lines: choice("one", "enormous") });
    unknown.adopt({ how: "resume" });
    expect(unknown.models.thinkingLevel).toBe("medium");
  });

  it("that was cut off gets results that say so, once", () => {
    const asking = assistant("", {
      model: "one",
      content: [
        { type: "toolCall", id: "1", name: "bash", arguments: {} },
        { type: "toolCall", id: "2", name: "read", arguments: {} },
      ],
      stopReason: "toolUse",
    });
    const { adopt, store } = desk({ lines: [...choice("one", "medium"), ...talk(user("hi"), asking)] });
    expect(adopt({ how: "resume" })).toBe(true);
    const results = store.messages.slice(2);
    expect(results).toMatchObject([
      { role: "toolResult", toolCallId: "1", toolName: "bash", isError: true },
      { role: "toolResult", toolCallId: "2", toolName: "read", isError: true },
    ]);
    expect(adopt({ how: "resume" })).toBe(true);
    expect(store.messages).toHaveLength(4);
  });

  it("that somebody else is using is left in peace", () => {
    const { adopt, added } = desk({ lines: [...choice("one", "medium"), ...talk(user("hi"))], isInUse: true });
    expect(adopt({ how: "resume" })).toBe(false);
    expect(added()).toEqual([]);
  });
});

describe("a session that begins in another way", () => {
  it("new: keeps model and level, and writes them down", () => {
    const { adopt, models, events, added } = desk({ lines: [] });
    expect(adopt({ how: "new" })).toBe(false);
    expect([models.model, models.thinkingLevel, events]).toEqual([one, "medium", []]);
    expect(added()).toEqual(["model_change", "thinking_level_change"]);
  });

  for (const how of ["fork", "tree"] as const) {
    it(`${how}: has what holds at its place, and is never cut off`, () => {
      const { adopt, models, added, store } = desk({ lines: [...choice("two", "high"), ...talk(user("hi"))] });
      expect(adopt({ how })).toBe(false);
      expect([models.model, models.thinkingLevel]).toEqual([two, "high"]);
      expect(added()).toEqual([]);
      expect(store.messages).toHaveLength(1);
    });

    it(`${how}: writes down the model that goes on in place of one that cannot be used`, () => {
      const { adopt, added } = desk({ lines: choice("lost", "medium") });
      adopt({ how });
      expect(added()).toEqual(["model_change"]);
    });
  }
});

describe("what holds from here on", () => {
  it("is written down unless it is already", () => {
    const { store, models, added } = desk({ lines: choice("two", "medium") });
    recordChoice(store, models);
    expect(added()).toEqual(["model_change"]);
    recordChoice(store, models);
    expect(added()).toEqual(["model_change"]);
  });

  it("is no level in a session that has never named one", () => {
    const { store, models, added } = desk({ lines: [messageEntry("a", null, user("hi"))] });
    recordChoice(store, models);
    expect(added()).toEqual(["model_change"]);
  });

  it("is no model when there is none", () => {
    const { store, models, added } = desk({ lines: [], current: null });
    recordChoice(store, models);
    expect(added()).toEqual(["thinking_level_change"]);
  });
});
