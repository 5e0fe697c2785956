import { join } from "node:path";
import type { DialectName } from "@tiller/protocol/dialects/dialect";
import { describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { type RpcOptions, type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { commandsOf, namesOf, skill } from "./asked-model.ts";
import { extensions, isNotified, isRequest, isResponse, PLAYED, say, sourceOf } from "./extension-stories.ts";
import { ended, isIncrement, messagesOf, ofType, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";
import { STORY, sessionText } from "./session-files.ts";

/** What extensions can do to the session, and what a host sees of it, in every dialect. */

const start = useRpc();

/** Decisions 27, 28, 34, and when a prompt that is a command is answered. */
const EXPECTED: Record<DialectName, { answersLate: boolean; loadsProjectCode: boolean; refusesFlags: boolean }> = {
  union: { answersLate: false, loadsProjectCode: false, refusesFlags: true },
  pi: { answersLate: true, loadsProjectCode: true, refusesFlags: true },
  omp: { answersLate: false, loadsProjectCode: false, refusesFlags: false },
  xcsh: { answersLate: false, loadsProjectCode: false, refusesFlags: false },
};

describe.each(PLAYED)("in the dialect %s", (dialect) => {
  const expected = EXPECTED[dialect];
  const begin = (options: RpcOptions & { load?: string[] } = {}): RpcProcess => {
    const { load = [], args = [], ...rest } = options;
    return start({ ...rest, args: ["--dialect", dialect, ...extensions(...load), ...args] });
  };

  /** Until nothing is left to do; a command of an extension settles nothing in pi. */
  const settled = async (rpc: RpcProcess, message: string): Promise<Frame[]> => {
    const since = rpc.mark();
    const { success } = await rpc.call({ type: "prompt", message });
    expect(success).toBe(true);
    await rpc.waitFor("agent_settled", { since });
    if (dialect !== "pi") await rpc.waitFor("session_settled", { since });
    return rpc.frames.slice(since);
  };

  describe("a command of an extension", () => {
    proves("pi.prompt.extension-command", "runs at once when it is prompted, and no model hears of it", async () => {
      const rpc = begin({ script: [], load: ["session"] });
      const response = await rpc.call({ type: "prompt", message: "/session-name my work" });
      expect(response).toMatchObject({ command: "prompt", success: true, data: { disposition: "handled" } });
      await rpc.waitFor(isNotified("named my work, idle: true"));
      expect(await stateOf(rpc)).toMatchObject({ sessionName: "my work", messageCount: 0, isStreaming: false });
      expect(await messagesOf(rpc)).toEqual([]);
      expect(rpc.types()).not.toContain("agent_start");
    });

    proves("pi.prompt.extension-command", "runs at once while a run streams, which goes on", async () => {
      const rpc = begin({ script: ['text "working" + hang'], load: ["session"] });
      const run = say(rpc, "work");
      await rpc.waitFor(isIncrement("text_delta"));
      for (const more of [{}, { streamingBehavior: "steer" }, { streamingBehavior: "followUp" }]) {
        const since = rpc.mark();
        const response = await rpc.call({ type: "prompt", message: "/session-name now", ...more });
        expect(response).toMatchObject({ success: true, data: { disposition: "handled" } });
        await rpc.waitFor(isNotified("named now, idle: false"), { since });
      }
      expect(await stateOf(rpc)).toMatchObject({ isStreaming: true, pendingMessageCount: 0, sessionName: "now" });
      await rpc.call({ type: "abort" });
      await rpc.waitFor("agent_settled");
      expect(rpc.frames.filter(isResponse(run))).toHaveLength(1);
      expect((await messagesOf(rpc)).map(({ role }) => role)).toEqual(["user", "assistant"]);
    });

    it.each(["steer", "follow_up"])("cannot be queued by %s", async (type) => {
      const rpc = begin({ script: ['text "working" + hang'], load: ["session"] });
      const refused = {
        id: "q",
        type: "response",
        command: type,
        success: false,
        error:
          'Extension command "/session-name" cannot be queued. Use prompt() or execute the command when not streaming.',
      };
      expect(await rpc.call({ id: "q", type, message: "/session-name x" })).toEqual(refused);
      say(rpc, "work");
      await rpc.waitFor(isIncrement("text_delta"));
      expect(await rpc.call({ id: "q", type, message: "/session-name x" })).toEqual(refused);
      expect(await stateOf(rpc)).toMatchObject({ pendingMessageCount: 0, isStreaming: true });
      expect((await stateOf(rpc)).sessionName).toBeUndefined();
      await rpc.call({ type: "abort" });
    });

    it(`is answered ${expected.answersLate ? "when it is done" : "when it begins"}`, async () => {
      const rpc = begin({ script: [], load: ["ui"] });
      const id = say(rpc, '/ui input ["Who?"]');
      const { id: dialog } = await rpc.waitFor(isRequest("input"));
      await stateOf(rpc);
      expect(rpc.frames.some(isResponse(id))).toBe(!expected.answersLate);
      rpc.send({ type: "extension_ui_response", id: dialog, value: "me" });
      expect(await rpc.waitFor(isResponse(id))).toMatchObject({ success: true, data: { disposition: "handled" } });
    });
  });

  describe("get_commands", () => {
    const options: RpcOptions & { load?: string[] } = {
      script: ['text "ok"'],
      files: { ".pi/prompts/fix-tests.md": "---\ndescription: Fix failing tests\n---\nFix $1.\n" },
      agentFiles: {
        "extensions/session.ts": sourceOf("session"),
        "skills/brave-search/SKILL.md": skill("brave-search", "# Search"),
      },
      load: ["ui"],
    };

    proves(
      ["pi.commands.command", "pi.commands.source-extension", "pi.commands.description-optional"],
      "lists commands of extensions, templates and skills",
      async () => {
        const rpc = begin(options);
        const path = join(rpc.sandbox.agentDir, "extensions/session.ts");
        const commands = await commandsOf(rpc);
        const find = (wanted: string): Frame | undefined => commands.find(({ name }) => name === wanted);
        expect(commands.map(({ name, source }) => `${name} ${source}`)).toEqual([
          "session-name extension",
          "bare extension",
          "ui extension",
          "twice extension",
          "ui-until-stop extension",
          "stop extension",
          "fix-tests prompt",
          "skill:brave-search skill",
        ]);
        // Decision 22: what each of the systems tells of it.
        const sourceInfo = { path, source: expect.any(String), scope: "user", origin: "top-level" };
        expect(find("session-name")).toMatchObject({
          name: "session-name",
          description: "Set or clear session name",
          source: "extension",
          location: "user",
          path,
          sourceInfo,
        });
        expect(find("bare")).toMatchObject({ source: "extension", path, sourceInfo });
        expect(find("bare")).not.toHaveProperty("description");
        expect(find("ui")).toMatchObject({ location: "path", sourceInfo: { scope: "temporary", source: "cli" } });
        expect(find("fix-tests")).toMatchObject({ description: "Fix failing tests", location: "project" });
        expect(find("skill:brave-search")).toMatchObject({ description: "How to brave-search", location: "user" });
      },
    );

    proves("pi.commands.invoked", "lists what a prompt with a slash before the name runs", async () => {
      const rpc = begin(options);
      const since = rpc.mark();
      await rpc.call({ type: "prompt", message: "/session-name first" });
      await rpc.waitFor(isNotified("named first, idle: true"), { since });
      const frames = await settled(rpc, "/fix-tests it");
      expect(ended(frames, "user").content).toEqual([{ type: "text", text: "Fix it." }]);
    });
  });

  describe("leaving the session", () => {
    const OTHER = { "other.jsonl": sessionText("/", STORY) };

    const WAYS: [command: { type: string }, flag: string][] = [
      [{ type: "new_session" }, "switch"],
      [{ type: "switch_session" }, "switch"],
      [{ type: "fork" }, "fork"],
      [{ type: "branch" }, "fork"],
      [{ type: "fork" }, "branch"],
      [{ type: "branch" }, "branch"],
      [{ type: "clone" }, "fork"],
    ];

    /** A session with one exchange, and the command with what it needs. */
    const ready = async (command: { type: string }, args: string[]) => {
      const rpc = begin({ script: ['text "Hello."'], files: OTHER, load: ["stay"], args });
      await settled(rpc, "hi");
      const { data } = await rpc.call({ type: "get_fork_messages" });
      const entryId = at(data, "messages", 0, "entryId");
      const ask = (): Promise<Frame> =>
        rpc.call({
          ...command,
          ...(["fork", "branch"].includes(command.type) && { entryId }),
          ...(command.type === "switch_session" && { sessionPath: join(rpc.sandbox.cwd, "other.jsonl") }),
        });
      return { rpc, ask, before: await stateOf(rpc) };
    };

    const expectStayed = async (command: { type: string }, flag: string): Promise<void> => {
      const { rpc, ask, before } = await ready(command, ["--stay", flag]);
      const { id, ...answer } = await ask();
      expect(answer).toEqual({ type: "response", command: command.type, success: true, data: { cancelled: true } });
      const { sessionId, sessionFile, messageCount } = before;
      expect(await stateOf(rpc)).toMatchObject({ sessionId, sessionFile, messageCount });
      expect((await messagesOf(rpc)).map(({ role }) => role)).toEqual(["user", "assistant"]);
    };

    proves(
      ["pi.new-session.cancellable", "pi.switch.cancellable"],
      "can be refused by a handler of session_before_switch",
      async () => {
        for (const [command, flag] of WAYS.filter(([, way]) => way === "switch")) await expectStayed(command, flag);
      },
    );

    it("can be refused by a handler of session_before_fork, or session_before_branch as omp calls it", async () => {
      for (const [command, flag] of WAYS.filter(([, way]) => way !== "switch")) await expectStayed(command, flag);
    });

    proves(
      ["pi.new-session.cancellable", "pi.switch.cancellable"],
      "goes as asked when the handler has nothing against it, which hears why",
      async () => {
        for (const type of ["new_session", "switch_session", "fork"]) {
          const { rpc, ask, before } = await ready({ type }, ["--loud"]);
          const since = rpc.mark();
          expect(await ask()).toMatchObject({ success: true, data: { cancelled: false } });
          expect((await stateOf(rpc)).sessionId).not.toBe(before.sessionId);
          const told = rpc.frames.slice(since).filter(isRequest("notify"));
          const reasons = { new_session: "switch new", switch_session: "switch resume", fork: "fork " };
          expect(told[0]?.message).toContain(reasons[type as keyof typeof reasons]);
        }
      },
    );

    it("happens when the handler only fails, which is told", async () => {
      const rpc = begin({ script: [], load: ["thrower"] });
      const { sessionId } = await stateOf(rpc);
      const since = rpc.mark();
      expect(await rpc.call({ type: "new_session" })).toMatchObject({ data: { cancelled: false } });
      expect((await stateOf(rpc)).sessionId).not.toBe(sessionId);
      expect(ofType(rpc.frames.slice(since), "extension_error")).toMatchObject([{ event: "session_before_switch" }]);
    });
  });

  describe("an extension that fails", () => {
    const errors = (frames: readonly Frame[]): unknown[] =>
      ofType(frames, "extension_error").map(({ event, error }) => [event, error]);

    proves(
      ["pi.events.extension-error", "omp.framing.out-extension-error"],
      "is told by extension_error, and the run goes on and ends as ever",
      async () => {
        const script = ['toolCall read {"path":"a.txt"} id c1', 'expect toolResult "A" + text "It says A."'];
        const rpc = begin({ script, files: { "a.txt": "A\n" }, load: ["thrower"] });
        const frames = await settled(rpc, "go");
        const [first] = ofType(frames, "extension_error");
        expect(first).toEqual({
          type: "extension_error",
          extensionPath: extensions("thrower")[1],
          event: "input",
          error: "no luck in input",
          seq: expect.any(Number),
        });
        const EVENTS = ["input", "before_agent_start", "agent_start", "context", "tool_result", "context", "agent_end"];
        expect(errors(frames)).toEqual(EVENTS.map((event) => [event, `no luck in ${event}`]));
        expect(ended(frames, "toolResult")).toMatchObject({ isError: false });
        expect(ofType(frames, "agent_settled")).toMatchObject([{ aborted: false }]);
        if (dialect !== "pi") expect(ofType(frames, "prompt_result")).toMatchObject([{ status: "completed" }]);
        expect(await stateOf(rpc)).toMatchObject({ isStreaming: false, messageCount: 4 });
      },
    );

    proves(
      ["pi.events.extension-error", "omp.framing.out-extension-error"],
      "in a command is told, and the prompt has still succeeded",
      async () => {
        const rpc = begin({ script: [], load: ["thrower"] });
        const response = await rpc.call({ type: "prompt", message: "/fail" });
        expect(response).toMatchObject({ command: "prompt", success: true });
        expect(await rpc.waitFor("extension_error")).toEqual({
          type: "extension_error",
          extensionPath: "command:fail",
          event: "command",
          error: "no luck in the command",
          seq: expect.any(Number),
        });
        expect(await stateOf(rpc)).toMatchObject({ isStreaming: false });
        expect(rpc.frames.filter(isResponse(response.id))).toHaveLength(1);
      },
    );
  });

  describe("an extension that wants the process to end", () => {
    proves("omp.errors.ends-by-extension", "gets it with code 0 when the answer is out", async () => {
      const rpc = begin({ script: [], load: ["leave"] });
      const { id, success } = await rpc.call({ type: "prompt", message: "/leave" });
      expect(success).toBe(true);
      expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
      expect(rpc.frames.filter(isNotified("asked for the end"))).toHaveLength(1);
      expect(rpc.frames.at(-1)).toMatchObject({ method: "notify", message: "the end: quit" });
      expect(rpc.frames.filter(isResponse(id))).toHaveLength(1);
    });

    proves("omp.errors.ends-by-extension", "gets it when the run that asked for it is complete", async () => {
      const script = ['toolCall read {"path":"a.txt"} id c1', 'text "It says A."'];
      const rpc = begin({ script, files: { "a.txt": "A\n" }, load: ["leave"] });
      await rpc.call({ type: "prompt", message: "go" });
      expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
      expect(ofType(rpc.frames, "agent_end")).toHaveLength(1);
      expect(ofType(rpc.frames, "agent_settled")).toMatchObject([{ aborted: false }]);
      const answers = ofType(rpc.frames, "message_end").map((frame) => at(frame, "message", "stopReason"));
      expect(answers).toEqual([undefined, "toolUse", undefined, "stop"]);
    });
  });

  describe("options of the command line", () => {
    it("are known when an extension has registered them (decision 27)", async () => {
      const rpc = begin({ script: [], load: ["stay"], args: ["--loud", "--stay=switch"] });
      expect(await rpc.call({ type: "new_session" })).toMatchObject({ data: { cancelled: true } });
      expect(rpc.frames.filter(isNotified("switch new"))).toHaveLength(1);
    });

    it(`are ${expected.refusesFlags ? "an error" : "ignored with a warning"} when nobody has`, async () => {
      const rpc = begin({ script: [], load: ["session"], args: ["--loud"] });
      if (expected.refusesFlags) {
        await expect(rpc.waitExit()).resolves.toEqual({ code: 2, signal: null });
        expect(rpc.frames).toEqual([]);
      } else expect(await stateOf(rpc)).toMatchObject({ isStreaming: false });
      expect(rpc.stderr).toContain("--loud");
    });
  });

  describe("an extension that lies in the project (decision 34)", () => {
    const files = { ".pi/extensions/session.ts": sourceOf("session"), ".pi/prompts/plain.md": "Plain." };
    const PROJECT: [how: string, args: string[], isLoaded: boolean, isTextLoaded: boolean][] = [
      ["unasked", [], expected.loadsProjectCode, true],
      ["with --approve", ["--approve"], true, true],
      ["named by --extension", ["--extension", ".pi/extensions/session.ts"], true, true],
      ["with --no-approve", ["--no-approve"], false, false],
      ["with --no-extensions", ["--no-extensions"], false, true],
    ];

    it.each(PROJECT)("%s %j: loaded is %s", async (_how, args, isLoaded, isTextLoaded) => {
      const rpc = begin({ script: [], files, args });
      const names = await namesOf(rpc);
      expect([names.includes("session-name"), names.includes("plain")]).toEqual([isLoaded, isTextLoaded]);
      const leftOut = ofType(rpc.frames, "notice").filter(({ message }) => /session\.ts/.test(String(message)));
      // Who has said that it shall not be loaded need not be told.
      expect(leftOut).toHaveLength(isLoaded || args.length > 0 ? 0 : 1);
    });
  });

  it("a prompt that a handler of input deals with asks no model (decision 36)", async () => {
    const rpc = begin({ script: ['text "Hello."'], load: ["swallow"] });
    const frames = await settled(rpc, "ahoy");
    expect(frames.filter(isNotified("Ahoy to you!"))).toHaveLength(1);
    expect(ofType(frames, "agent_settled")).toHaveLength(1);
    expect(frames.map(({ type }) => type)).not.toContain("message_start");
    if (dialect !== "pi") {
      const result = { status: "completed", agentInvoked: false };
      expect(ofType(frames, "prompt_result")).toMatchObject([result]);
    }
    expect(await messagesOf(rpc)).toEqual([]);
    expect(ended(await settled(rpc, "hello"), "assistant").content).toMatchObject([{ text: "Hello." }]);
  });
});
