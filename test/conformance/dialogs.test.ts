import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DialectName } from "@tiller/protocol/dialects/dialect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, type Frame, list } from "../support/frame.ts";
import { RpcProcess, useRpc } from "../support/rpc-process.ts";
import {
  calling,
  DIALECTS,
  extensions,
  isNotified,
  isOutcome,
  isRequest,
  isResponse,
  openDialog,
  PLAYED,
  say,
} from "./extension-stories.ts";
import { isIncrement, ofType, stateOf } from "./looking.ts";
import { type Proves, proves } from "./proofs.ts";

/** What extensions show and ask through the host, with the frames that the documents print, in every dialect. */

const start = useRpc();

/** Decisions 25 and 26. */
const EXPECTED: Record<DialectName, { title: boolean; cancel: boolean }> = {
  union: { title: false, cancel: true },
  pi: { title: true, cancel: false },
  omp: { title: true, cancel: true },
  xcsh: { title: false, cancel: true },
};

/** Each of the four dialogs: arguments without options, and what the extension gets when nobody answers. */
const DIALOGS = [
  { method: "select", given: ["Which?", ["a", "b"]], fallback: "undefined" },
  { method: "confirm", given: ["Sure?", "It cannot be undone."], fallback: "false" },
  { method: "input", given: ["Name", "somebody"], fallback: "undefined" },
  { method: "editor", given: ["Text", "Once upon a time"], fallback: "undefined" },
];

interface Shown {
  proves: Proves;
  method: string;
  given: unknown[];
  /** The request, but for `type` and `id`; `method` where it has another name. */
  fields: Record<string, unknown>;
}

/** The examples of the documents, and beside each what its fields may be as well. */
const REQUESTS: Shown[] = [
  {
    proves: ["pi.ui.select", "omp.framing.out-ui-request"],
    method: "select",
    given: ["Allow dangerous command?", ["Allow", "Block"], { timeout: 10000 }],
    fields: { title: "Allow dangerous command?", options: ["Allow", "Block"], timeout: 10000 },
  },
  {
    proves: "pi.ui.select",
    method: "select",
    given: ["Without a limit", ["one"]],
    fields: { title: "Without a limit", options: ["one"] },
  },
  {
    proves: "pi.ui.confirm",
    method: "confirm",
    given: ["Clear session?", "All messages will be lost.", { timeout: 5000 }],
    fields: { title: "Clear session?", message: "All messages will be lost.", timeout: 5000 },
  },
  {
    proves: "omp.ui.timeout-milliseconds",
    method: "confirm",
    given: ["Confirm", "Continue?", { timeout: 30000 }],
    fields: { title: "Confirm", message: "Continue?", timeout: 30000 },
  },
  {
    proves: "pi.ui.confirm",
    method: "confirm",
    given: ["Without a limit", "Really"],
    fields: { title: "Without a limit", message: "Really" },
  },
  {
    proves: "pi.ui.input",
    method: "input",
    given: ["Enter a value", "type something..."],
    fields: { title: "Enter a value", placeholder: "type something..." },
  },
  {
    proves: "pi.ui.editor",
    method: "editor",
    given: ["Edit some text", "Line 1\nLine 2\nLine 3"],
    fields: { title: "Edit some text", prefill: "Line 1\nLine 2\nLine 3" },
  },
  ...["info", "warning", "error"].map(
    (notifyType): Shown => ({
      proves: ["pi.ui.notify", "pi.ui.notify-type"],
      method: "notify",
      given: ["Command blocked by user", notifyType],
      fields: { message: "Command blocked by user", notifyType },
    }),
  ),
  { proves: "pi.ui.notify", method: "notify", given: ["Just so"], fields: { message: "Just so" } },
  {
    proves: "pi.ui.set-status",
    method: "setStatus",
    given: ["my-ext", "Turn 3 running..."],
    fields: { statusKey: "my-ext", statusText: "Turn 3 running..." },
  },
  { proves: "pi.ui.set-status-clear", method: "setStatus", given: ["my-ext"], fields: { statusKey: "my-ext" } },
  ...["aboveEditor", "belowEditor"].map(
    (placement): Shown => ({
      proves: ["pi.ui.set-widget", "pi.ui.set-widget-placement"],
      method: "setWidget",
      given: ["my-ext", ["--- My Widget ---", "Line 1", "Line 2"], { placement }],
      fields: {
        widgetKey: "my-ext",
        widgetLines: ["--- My Widget ---", "Line 1", "Line 2"],
        widgetPlacement: placement,
      },
    }),
  ),
  { proves: "pi.ui.set-widget-clear", method: "setWidget", given: ["my-ext"], fields: { widgetKey: "my-ext" } },
  {
    proves: "pi.ui.set-editor-text",
    method: "setEditorText",
    given: ["prefilled text for the user"],
    fields: { method: "set_editor_text", text: "prefilled text for the user" },
  },
];

const TITLE: Shown = {
  proves: "pi.ui.set-title",
  method: "setTitle",
  given: ["pi - my project"],
  fields: { title: "pi - my project" },
};

const isDialog = (method: string): boolean => DIALOGS.some((dialog) => dialog.method === method);
const nameOf = ({ proves: ids, method, given }: Shown): string =>
  `${method} ${JSON.stringify(given)} [${[ids].flat().join(", ")}]`;

describe.each(PLAYED)("in the dialect %s", (dialect) => {
  const expected = EXPECTED[dialect];
  let rpc: RpcProcess;
  beforeAll(() => {
    const script = ['text "working" + hang'];
    rpc = new RpcProcess({ script, args: ["--dialect", dialect, "--no-session", ...extensions("ui")] });
  });
  afterAll(() => rpc.dispose());

  /** All that is written until the next answer of ours: for what must not be there. */
  const untilNow = async (since: number): Promise<Frame[]> => {
    await stateOf(rpc);
    return rpc.frames.slice(since);
  };

  it.each(REQUESTS.map((shown) => [nameOf(shown), shown] as const))("shows %s", async (_name, shown) => {
    const { method, given, fields } = shown;
    const sentAs = String(fields.method ?? method);
    const since = rpc.mark();
    const prompt = say(rpc, calling(method, given));
    const request = await rpc.waitFor(isRequest(sentAs), { since });
    expect(request).toEqual({ type: "extension_ui_request", id: expect.stringMatching(/./), method, ...fields });
    if (isDialog(method)) rpc.send({ type: "extension_ui_response", id: request.id, cancelled: true });
    await rpc.waitFor(isOutcome(method), { since });
    await rpc.waitFor(isResponse(prompt), { since });
  });

  proves("pi.ui.request-fields", "gives each request an id of its own, and a method", async () => {
    const requests = ofType(rpc.frames, "extension_ui_request");
    expect(requests.length).toBeGreaterThan(2 * REQUESTS.length - 1);
    expect(new Set(requests.map(({ id }) => id)).size).toBe(requests.length);
    expect(requests.filter(({ method }) => typeof method !== "string")).toEqual([]);
  });

  it(`${expected.title ? "sends" : "keeps back"} the title [pi.ui.set-title, xcsh.ui.set-title-suppressed]`, async () => {
    const since = rpc.mark();
    say(rpc, calling(TITLE.method, TITLE.given));
    await rpc.waitFor(isOutcome("setTitle"), { since });
    const sent = rpc.frames.slice(since).filter(isRequest("setTitle"));
    const request = { type: "extension_ui_request", id: expect.any(String), method: "setTitle", ...TITLE.fields };
    expect(sent).toEqual(expected.title ? [request] : []);
  });

  proves(
    ["pi.ui.no-answer-expected", "pi.ui.answer-dialogs-only"],
    "goes on at once after what is only told, and ignores what is answered to it",
    async () => {
      for (const { method, given, fields } of REQUESTS.filter((shown) => !isDialog(shown.method))) {
        const since = rpc.mark();
        say(rpc, calling(method, given));
        await rpc.waitFor(isOutcome(method), { since });
        const { id } = rpc.frames.slice(since).find(isRequest(String(fields.method ?? method))) ?? {};
        const answered = rpc.mark();
        rpc.send({ type: "extension_ui_response", id, value: "thanks" });
        const after = await untilNow(answered);
        expect(after.filter(({ type }) => type === "extension_ui_request" || type === "notice")).toEqual([]);
      }
    },
  );

  describe.each(DIALOGS)("$method", ({ method, given, fallback }) => {
    proves(["pi.ui.dialogs-block", "pi.ui.from-context"], "waits for the host, who may do other things", async () => {
      const dialog = await openDialog(rpc, method, given);
      for (let times = 0; times < 3; times++) {
        const { pendingDialogs } = await stateOf(rpc);
        expect(pendingDialogs).toMatchObject([{ id: dialog.request.id, method }]);
      }
      expect(dialog.isOver()).toBe(false);
      dialog.answer({ cancelled: true });
      await dialog.outcome();
      expect(list((await stateOf(rpc)).pendingDialogs)).toEqual([]);
    });

    const ANSWERS =
      method === "confirm" ? [{ confirmed: true }, { confirmed: false }] : [{ value: "b" }, { value: "" }];
    proves(
      ["pi.ui.answer-value", "pi.ui.answer-confirmed", "omp.framing.in-ui-response"],
      `gets ${JSON.stringify(ANSWERS)}`,
      async () => {
        for (const answer of ANSWERS) {
          const dialog = await openDialog(rpc, method, given);
          dialog.answer(answer);
          expect(await dialog.outcome()).toBe(JSON.stringify(Object.values(answer)[0]));
        }
      },
    );

    proves("pi.ui.answer-cancelled", `can be cancelled, which gives ${fallback}`, async () => {
      const dialog = await openDialog(rpc, method, given);
      dialog.answer({ cancelled: true });
      expect(await dialog.outcome()).toBe(fallback);
    });

    it(`is cancelled when it is answered so, whatever stands beside it`, async () => {
      const dialog = await openDialog(rpc, method, given);
      dialog.answer({ cancelled: true, value: "b", confirmed: true });
      expect(await dialog.outcome()).toBe(fallback);
    });

    it("takes the answer of another kind of dialog for none, and says so", async () => {
      const dialog = await openDialog(rpc, method, given);
      const since = rpc.mark();
      dialog.answer(method === "confirm" ? { value: "yes" } : { confirmed: true });
      expect(await dialog.outcome()).toBe(fallback);
      const about = String(dialog.request.id);
      expect(await rpc.waitFor("notice", { since })).toMatchObject({ message: expect.stringContaining(about) });
    });

    proves(
      ["omp.ui.timeout-default", "omp.ui.timeout-milliseconds"],
      `gives ${fallback} when its time is up`,
      async () => {
        const since = rpc.mark();
        const dialog = await openDialog(rpc, method, [...given, { timeout: 120 }]);
        expect(dialog.request.timeout).toBe(120);
        // Had it been seconds, the test would not live to see it.
        expect(await dialog.outcome()).toBe(fallback);
        await expectWithdrawn(dialog.request, since);
      },
    );

    proves("omp.ui.abort-default", `gives ${fallback} when the extension no longer asks`, async () => {
      const since = rpc.mark();
      const dialog = await openDialog(rpc, method, given, "/ui-until-stop");
      expect(dialog.isOver()).toBe(false);
      say(rpc, "/stop");
      expect(await dialog.outcome()).toBe(fallback);
      await expectWithdrawn(dialog.request, since);
    });

    /** Decision 26. An answer that comes too late changes nothing, and nothing is said to it. */
    const expectWithdrawn = async ({ id }: Frame, since: number): Promise<void> => {
      const cancels = rpc.frames.slice(since).filter(isRequest("cancel"));
      const cancel = { type: "extension_ui_request", id: expect.any(String), method: "cancel", targetId: id };
      expect(cancels).toEqual(expected.cancel ? [cancel] : []);
      const late = rpc.mark();
      rpc.send({ type: "extension_ui_response", id, value: "too late", confirmed: true });
      expect((await untilNow(late)).filter(({ type }) => type === "extension_ui_request")).toEqual([]);
    };
  });

  proves("pi.ui.matched-by-id", "gives each of several dialogs its own answer, in any order", async () => {
    const first = await openDialog(rpc, "input", ["first"]);
    const second = await openDialog(rpc, "select", ["second", ["a"]]);
    const third = await openDialog(rpc, "confirm", ["third", ""]);
    expect(list((await stateOf(rpc)).pendingDialogs).map((dialog) => at(dialog, "title"))).toEqual([
      "first",
      "second",
      "third",
    ]);
    third.answer({ confirmed: true });
    expect(await third.outcome()).toBe("true");
    second.answer({ value: "a" });
    expect(await second.outcome()).toBe('"a"');
    expect(first.isOver()).toBe(false);
    first.answer({ value: "1" });
    expect(await first.outcome()).toBe('"1"');
  });

  proves("omp.errors.unknown-ui-response", "ignores answers that nobody waits for", async () => {
    const dialog = await openDialog(rpc, "input", ["Who?"]);
    await stateOf(rpc);
    const since = rpc.mark();
    for (const id of ["nobody", `${dialog.request.id}x`, "", 7, null, undefined]) {
      rpc.send({ type: "extension_ui_response", id, value: "me" });
    }
    expect((await untilNow(since)).map(({ type, command }) => [type, command])).toEqual([["response", "get_state"]]);
    expect(dialog.isOver()).toBe(false);
    dialog.answer({ value: "you" });
    expect(await dialog.outcome()).toBe('"you"');
    await stateOf(rpc);
    const twice = rpc.mark();
    dialog.answer({ value: "they" });
    expect((await untilNow(twice)).filter(({ type }) => type === "extension_ui_request")).toEqual([]);
  });

  proves(
    [
      "omp.flow.ui-round-trip",
      "omp.overview.stdin-ui-responses",
      "omp.overview.stdout-ui-requests",
      "pi.ui.answer-dialogs-only",
    ],
    "makes the round trip of the documents",
    async () => {
      const since = rpc.mark();
      const dialog = await openDialog(rpc, "input", ["Branch name", "feature/..."]);
      const { id, ...request } = dialog.request;
      expect(request).toEqual({
        type: "extension_ui_request",
        method: "input",
        title: "Branch name",
        placeholder: "feature/...",
      });
      rpc.send(`{ "type": "extension_ui_response", "id": ${JSON.stringify(id)}, "value": "feature/rpc-host" }\n`);
      expect(await dialog.outcome()).toBe('"feature/rpc-host"');
      // An answer to a request is no command, and gets no response.
      expect(ofType(await untilNow(since), "response").map(({ command }) => command)).toEqual(["prompt", "get_state"]);
    },
  );

  it("does nothing where a terminal would be needed, and says so once for each method", async () => {
    const since = rpc.mark();
    const given: [method: string, given: unknown[], gives: string][] = [
      ["custom", ["a component"], "undefined"],
      ["setFooter", ["a component"], "undefined"],
      ["setHeader", ["a component"], "undefined"],
      ["setWorkingMessage", ["busy"], "undefined"],
      ["setEditorComponent", ["a component"], "undefined"],
      ["setToolsExpanded", [true], "undefined"],
      ["getEditorText", [], '""'],
      ["getToolsExpanded", [], "false"],
      ["getAllThemes", [], "[]"],
      ["getTheme", ["dark"], "undefined"],
      ["setTheme", ["dark"], '{"success":false,"error":"Theme switching not supported in RPC mode"}'],
    ];
    for (const [method, args, gives] of [...given, ...given]) {
      const before = rpc.mark();
      say(rpc, calling(method, args));
      expect(await rpc.waitFor(isOutcome(method), { since: before })).toMatchObject({ message: `${method}: ${gives}` });
    }
    const told = ofType(await untilNow(since), "notice").map(
      ({ message }) => /ctx\.ui\.(\w+)/.exec(String(message))?.[1],
    );
    expect(told).toEqual(given.slice(0, 7).map(([method]) => method));
  });

  it("asks while a run streams, and the run goes on", async () => {
    const since = rpc.mark();
    say(rpc, "work");
    await rpc.waitFor(isIncrement("text_delta"), { since });
    const dialog = await openDialog(rpc, "confirm", ["Enough?", ""]);
    expect(await stateOf(rpc)).toMatchObject({ isStreaming: true });
    dialog.answer({ confirmed: true });
    expect(await dialog.outcome()).toBe("true");
    expect(await stateOf(rpc)).toMatchObject({ isStreaming: true });
    await rpc.call({ type: "abort" });
  });
});

describe.each(PLAYED)("a tool that waits for permission, in the dialect %s", (dialect) => {
  const STORIES: [answer: object | undefined, isAllowed: boolean][] = [
    [{ value: "Allow" }, true],
    [{ value: "Block" }, false],
    [{ cancelled: true }, false],
  ];

  proves(["pi.ui.dialogs-block", "pi.ui.answer-value"], "runs when the host allows it, and only then", async () => {
    const turns = STORIES.flatMap((_, index) => [
      `toolCall write {"path":"${index}.txt","content":"x"} id c${index}`,
      'text "done"',
    ]);
    const rpc = start({ script: turns, args: ["--dialect", dialect, "--no-session", ...extensions("permission")] });
    for (const [index, [answer, isAllowed]] of STORIES.entries()) {
      const since = rpc.mark();
      const file = join(rpc.sandbox.cwd, `${index}.txt`);
      say(rpc, "go");
      const { id, ...asked } = await rpc.waitFor(isRequest("select"), { since });
      expect(asked).toEqual({
        type: "extension_ui_request",
        method: "select",
        title: "Allow dangerous command?",
        options: ["Allow", "Block"],
        timeout: 10000,
      });
      expect(await stateOf(rpc)).toMatchObject({ isStreaming: true });
      expect([existsSync(file), rpc.types(since).includes("tool_execution_end")]).toEqual([false, false]);
      rpc.send({ type: "extension_ui_response", id, ...answer });
      expect(await rpc.waitFor("tool_execution_end", { since })).toMatchObject({ isError: !isAllowed });
      await rpc.waitFor("agent_settled", { since });
      expect(existsSync(file)).toBe(isAllowed);
      const said = rpc.frames.slice(since).filter(isNotified("Command blocked by user"));
      expect(said.map(({ notifyType }) => notifyType)).toEqual(isAllowed ? [] : ["warning"]);
    }
  });
});

describe("the title", () => {
  const titles = async (rpc: RpcProcess): Promise<unknown[]> => {
    say(rpc, calling("setTitle", ["pi - my project"]));
    await rpc.waitFor(isOutcome("setTitle"));
    return rpc.frames.filter(isRequest("setTitle")).map(({ title }) => title);
  };

  it.each(DIALECTS)("reaches the host of %s with PI_RPC_EMIT_TITLE=1 [xcsh.ui.set-title]", async (dialect) => {
    const args = ["--dialect", dialect, "--no-session", ...extensions("ui")];
    expect(await titles(start({ env: { PI_RPC_EMIT_TITLE: "1" }, args }))).toEqual(["pi - my project"]);
  });

  const NAMED: { proves: Proves; value: string | undefined; sent: boolean }[] = [
    { proves: "xcsh.ui.set-title", value: "1", sent: true },
    { proves: ["xcsh.ui.set-title-suppressed"], value: undefined, sent: false },
    { proves: ["xcsh.ui.set-title-suppressed"], value: "0", sent: false },
    { proves: ["xcsh.ui.set-title-suppressed"], value: "", sent: false },
  ];
  it.each(NAMED)("is sent in xcsh with PI_RPC_EMIT_TITLE=$value: $sent", async ({ value, sent }) => {
    const args = ["--dialect", "xcsh", "--no-session", ...extensions("ui")];
    expect(await titles(start({ env: { PI_RPC_EMIT_TITLE: value }, args }))).toHaveLength(sent ? 1 : 0);
  });
});

describe.each(PLAYED)("dialogs that are open when stdin closes, in the dialect %s", (dialect) => {
  it("get their defaults, and the process ends in order (decision 28)", async () => {
    const rpc = start({ args: ["--dialect", dialect, "--no-session", ...extensions("ui")] });
    const open = [];
    for (const { method, given, fallback } of DIALOGS)
      open.push([await openDialog(rpc, method, given), fallback] as const);
    rpc.closeStdin();
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    for (const [dialog, fallback] of open) expect(await dialog.outcome()).toBe(fallback);
  });

  it("are not followed by others, which get their defaults too", async () => {
    const rpc = start({ args: ["--dialect", dialect, "--no-session", ...extensions("ui")] });
    say(rpc, "/twice");
    await rpc.waitFor(isRequest("confirm"));
    rpc.closeStdin();
    expect(await rpc.waitExit()).toEqual({ code: 0, signal: null });
    expect(rpc.frames.filter(isNotified("twice: [false,false]"))).toHaveLength(1);
    expect(rpc.frames.filter(isRequest("confirm")).map(({ title }) => title)).toEqual(["First"]);
  });
});
