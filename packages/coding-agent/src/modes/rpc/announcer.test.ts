import type { SessionState } from "@tiller/protocol/state";
import { expect, it } from "vitest";
import type { SessionListener } from "../../session/session-event.ts";
import { createAnnouncer } from "./announcer.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

function desk(listCommands: () => Promise<unknown> = async () => ({ availableCommands: () => ({ commands: [] }) })) {
  const frames: object[] = [];
  const problems: string[] = [];
  const model = { provider: "p", id: "m" };
  let state = { sessionId: "s1", model, thinkingLevel: "low" } as unknown as SessionState;
  let listener: SessionListener = () => undefined;
  const announcer = createAnnouncer({
    session: {
      state: () => state,
      subscribe(given) {
        listener = given;
        return () => undefined;
      },
      resources: listCommands as never,
    },
    write: (frame) => frames.push(JSON.parse(JSON.stringify(frame))),
    onProblem: (problem) => problems.push(problem),
  });
  const change = (changes: object): void => {
    state = { ...state, ...changes };
  };
  return {
    frames,
    problems,
    change,
    look: announcer.look,
    hear: (type: string) => listener({ type } as never, undefined),
  };
}

it("tells the commands first, and then what changes, once", async () => {
  const { frames, change, look } = desk();
  await tick();
  expect(frames.splice(0)).toEqual([{ type: "available_commands_update", commands: [] }]);
  look();
  change({ messageCount: 3 });
  look();
  expect(frames).toEqual([]);
  change({ sessionName: "boats", model: { provider: "p", id: "n" } });
  look();
  look();
  expect(frames.splice(0)).toEqual([
    { type: "session_info_update", title: "boats", sessionId: "s1" },
    { type: "config_update", model: { provider: "p", id: "n" }, thinkingLevel: "low" },
  ]);
  change({ thinkingLevel: "high" });
  look();
  expect(frames.splice(0)).toMatchObject([{ type: "config_update", thinkingLevel: "high" }]);
  change({ sessionId: "s2", sessionName: undefined, model: null });
  look();
  await tick();
  expect(frames.splice(0)).toEqual([
    { type: "session_info_update", sessionId: "s2" },
    { type: "config_update", model: null, thinkingLevel: "high" },
    { type: "available_commands_update", commands: [] },
  ]);
});

it("looks with every event but the increments", () => {
  const { frames, change, hear } = desk();
  change({ sessionName: "boats" });
  hear("message_update");
  expect(frames).toEqual([]);
  hear("session_info_changed");
  expect(frames).toMatchObject([{ title: "boats" }]);
});

it("tells why there is no list", async () => {
  const { frames, problems } = desk(async () => {
    throw new Error("EACCES");
  });
  await tick();
  expect([frames, problems]).toEqual([[], ["The slash commands cannot be listed: EACCES"]]);
});
