import { omp } from "@tiller/protocol/dialects/omp";
import { pi } from "@tiller/protocol/dialects/pi";
import { union } from "@tiller/protocol/dialects/union";
import { beforeAll, describe, expect, it } from "vitest";
import { proves } from "../../../../../test/conformance/proofs.ts";
import { done, type Handlers, ok, refused } from "./answer.ts";
import { createDispatcher } from "./dispatcher.ts";
import { createLanes } from "./lanes.ts";

// What explains a wrong field is loaded with the first of them, which takes its time on a busy machine.
beforeAll(() => import("@tiller/protocol/check"), 60_000);

function desk(handlers: Partial<Handlers> = {}, dialect = union) {
  const written: unknown[] = [];
  const answers: unknown[] = [];
  const dispatcher = createDispatcher({
    handlers,
    dialect,
    lanes: createLanes(),
    answers: { extension_ui_response: (frame) => answers.push(frame) },
    write: (frame) => written.push(JSON.parse(JSON.stringify(frame))),
    writeJson: (json) => written.push(JSON.parse(json)),
    writePieces(pieces) {
      let json = "";
      for (const piece of pieces) json += piece;
      written.push(JSON.parse(json));
    },
    room: () => undefined,
  });
  return {
    written,
    answers,
    dispatcher,
    async send(line: string) {
      dispatcher.line(line);
      // How long an answer takes is nobody's promise; whoever gets none is ended by the time limit of the test.
      while (written.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      return written[0];
    },
  };
}

describe("a line that is no command", () => {
  const cases: [line: string, error: RegExp][] = [
    ["{bad", /^Failed to parse command: /],
    ["null", /^Failed to parse command: expected a JSON object with a "type", got null$/],
    ["[]", /got \[\]$/],
    ["42", /got 42$/],
    ['"x"', /got "x"$/],
    ["{}", /got \{\}$/],
    ['{"id":"1"}', /got \{"id":"1"\}$/],
    ['{"type":5}', /got \{"type":5\}$/],
    ['{"type":"prompt"}{"type":"abort"}', /^Failed to parse command: /],
  ];
  for (const [line, error] of cases) {
    it(`answers ${line} as a parse error without id`, async () => {
      expect(await desk().send(line)).toEqual({
        type: "response",
        command: "parse",
        success: false,
        error: expect.stringMatching(error),
      });
    });
  }

  it("ignores blank lines", () => {
    const { dispatcher, written } = desk();
    dispatcher.line("");
    dispatcher.line("  ");
    expect(written).toEqual([]);
  });

  it("shows no more than the beginning of a long line", async () => {
    const answer = (await desk().send(`"${"x".repeat(1000)}"`)) as { error: string };
    expect(answer.error.length).toBeLessThan(150);
  });
});

describe("an unknown command", () => {
  it("is answered without id, as two of the documents say", async () => {
    expect(await desk().send('{"id":"1","type":"nope"}')).toEqual({
      type: "response",
      command: "nope",
      success: false,
      error: "Unknown command: nope",
    });
  });
  it("keeps the id in the pi dialect", async () => {
    expect(await desk({}, pi).send('{"id":"1","type":"nope"}')).toMatchObject({
      id: "1",
      error: "Unknown command: nope",
    });
  });
  for (const name of ["constructor", "__proto__", "toString"]) {
    it(`does not take ${name} for a command`, async () => {
      expect(await desk().send(JSON.stringify({ type: name }))).toMatchObject({ error: `Unknown command: ${name}` });
    });
  }
});

describe("a known command", () => {
  const setModel = { set_model: () => refused("Model not found: a/b") };

  const wrong: [line: string, error: RegExp][] = [
    ['{"id":"1","type":"set_model"}', /provider/],
    ['{"id":"1","type":"set_model","provider":7,"modelId":"x"}', /provider.*string.*7/],
    ['{"id":"1","type":"set_model","provider":null,"modelId":"x"}', /provider.*string/],
  ];
  for (const [line, error] of wrong) {
    it(`with a bad field keeps command and id and names the field: ${line}`, async () => {
      expect(await desk(setModel).send(line)).toEqual({
        id: "1",
        type: "response",
        command: "set_model",
        success: false,
        error: expect.stringMatching(error),
      });
    });
  }

  it("may have extra fields, and null in an optional one", async () => {
    const seen: unknown[] = [];
    const handlers: Partial<Handlers> = {
      prompt: (params) => {
        seen.push(params);
        return ok({ disposition: "started" as const });
      },
    };
    const line = '{"type":"prompt","message":"hi","images":null,"color":"red"}';
    expect(await desk(handlers).send(line)).toMatchObject({ success: true, data: { disposition: "started" } });
    expect(seen).toEqual([{ type: "prompt", message: "hi", color: "red" }]);
  });

  it("keeps the JSON type of its id and answers without data when there is none", async () => {
    const answer = await desk({ abort: () => done }).send('{"id":7,"type":"abort"}');
    expect(JSON.stringify(answer)).toBe('{"id":7,"type":"response","command":"abort","success":true}');
  });

  it.each<[id: string, told: string]>([
    ["9007199254740993", "9007199254740993"],
    ["-9007199254740993", "-9007199254740993"],
    ["123456789012345678901234567890", "123456789012345678901234567890"],
    ["9007199254740993.0", "9007199254740993.0"],
    ["0.1000000000000000055", "0.1000000000000000055"],
    ["-1.00000000000000023", "-1.00000000000000023"],
    ["10000000000000000000000000000000001e-40", "10000000000000000000000000000000001e-40"],
    ["4e-324", "4e-324"],
  ])("refuses the id %s, which would come back as another one", async (id, told) => {
    // The number that it would come back as stands in the line, too.
    const line = `{"type":"abort","inner":{"id":7},"rounded":${Number(id)},"id": ${id}}`;
    expect(await desk({ abort: () => done }).send(line)).toEqual({
      type: "response",
      command: "abort",
      success: false,
      error: `id ${told} cannot be repeated exactly: use a string`,
    });
  });

  it.each([
    ...["9007199254740991", "-9007199254740991", "9007199254740992", "1763504254000000000", "1e300", "1000e18"],
    ...["0", "-0", "1.0", "0.5", "1.10", "-12.50E-3", "0.1e1", "1e-7", "0.0000001", "5e-324", "0.1", "1e2"],
    // As %.17g writes them.
    ...["0.10000000000000001", "-1.1000000000000001", "3.0000000000000001e-05", "4.9406564584124654e-324"],
  ])("repeats the number of the id %s", async (id) => {
    expect(await desk({ abort: () => done }).send(`{"type":"abort","id":${id}}`)).toMatchObject({ id: Number(id) + 0 });
  });

  it("quotes of an id that it refuses only the beginning", async () => {
    const { error } = (await desk().send(`{"type":"abort","id":0.${"5".repeat(3_000_000)}}`)) as { error: string };
    expect(error).toMatch(/^id 0\.5+\.\.\. cannot be repeated exactly: use a string$/);
    expect(error.length).toBeLessThan(120);
  });

  it("looks at its own id, not at those of what is in it", async () => {
    const [fine, lost] = ["0.5", "0.50000000000000000000001"];
    const answer = (id: string, inner: string) =>
      desk({ abort: () => done }).send(`{"a":{"id":${inner}},"type":"abort","id" : ${id},"b":[{"id":${inner}}]}`);
    expect(await answer(fine, lost)).toMatchObject({ id: 0.5, success: true });
    for (const inner of [fine, lost, "0.500000000000000000000022"]) {
      const error = `id ${lost} cannot be repeated exactly: use a string`;
      expect(await answer(lost, inner)).toMatchObject({ success: false, error });
    }
  });

  it("works off an id of many zeros at once", async () => {
    const id = `0.${"0".repeat(300)}1${"0".repeat(500_000)}1`;
    expect(await desk({ abort: () => done }).send(`{"type":"abort","id":${id}}`)).toMatchObject({ success: false });
  });

  it("takes null for no id, and refuses an id that cannot be echoed", async () => {
    expect(await desk({ abort: () => done }).send('{"id":null,"type":"abort"}')).toEqual({
      type: "response",
      command: "abort",
      success: true,
    });
    expect(await desk({ abort: () => done }).send('{"id":{"a":1},"type":"abort"}')).toEqual({
      type: "response",
      command: "abort",
      success: false,
      error: '"id" must be a string or a number, got an object',
    });
  });

  it("may have its data as JSON already", async () => {
    const handlers: Partial<Handlers> = { get_state: () => ({ dataJson: '{"isStreaming":false}' }) };
    expect(await desk(handlers).send('{"id":"a\\"b","type":"get_state"}')).toEqual({
      id: 'a"b',
      type: "response",
      command: "get_state",
      success: true,
      data: { isStreaming: false },
    });
  });

  for (const id of ["1", 7, 'a"b\u2028', undefined]) {
    it(`may have its data in pieces: with the id ${JSON.stringify(id)}`, async () => {
      const dataPieces = ['{"messages":[', Buffer.from('{"role":"user"}'), "]}"];
      const written = await desk({ get_messages: () => ({ dataPieces }) }).send(
        JSON.stringify({ id, type: "get_messages" }),
      );
      expect(written).toEqual({
        ...(id === undefined ? {} : { id }),
        type: "response",
        command: "get_messages",
        success: true,
        data: { messages: [{ role: "user" }] },
      });
    });
  }

  it("with its data in pieces asks for none of them itself, and keeps its lane until there is room", async () => {
    let asked = 0;
    let makeRoom = (): void => undefined;
    const room = new Promise<void>((resolve) => {
      makeRoom = resolve;
    });
    const written: unknown[] = [];
    const dispatcher = createDispatcher({
      handlers: {
        get_messages: () => ({
          dataPieces: (function* () {
            asked += 1;
            yield "{}";
          })(),
        }),
      },
      dialect: union,
      lanes: createLanes(),
      answers: {},
      write: (frame) => written.push(frame),
      writeJson: (json) => written.push(json),
      writePieces: (pieces) => written.push(pieces),
      room: () => room,
    });
    dispatcher.line('{"type":"get_messages"}');
    dispatcher.line('{"type":"get_messages"}');
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect([asked, written.length]).toEqual([0, 1]);
    makeRoom();
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect([asked, written.length]).toEqual([0, 2]);
  });

  it("knows that it comes again only while nothing else can have happened", async () => {
    const heard: string[] = [];
    const { dispatcher } = desk({
      get_state: (_, { again }) => {
        heard.push(again ? "again" : "new");
        return { dataJson: "{}" };
      },
      abort: () => done,
    });
    const lines = (...types: string[]) => {
      for (const type of types) dispatcher.line(`{"type":"${type}"}`);
    };
    lines("get_state", "get_state", "abort", "get_state", "get_state", "extension_ui_response", "get_state");
    await Promise.resolve();
    lines("get_state", "get_state");
    expect(heard).toEqual(["new", "again", "new", "again", "new", "new", "again"]);
  });

  it("survives an id that is nested too deep to be shown", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(await desk().send(`{"type":"get_state","id":${deep}}`)).toMatchObject({
      success: false,
      error: '"id" must be a string or a number, got an array',
    });
  });

  it("starts its job only after the answer, and tells of a failed job by a second answer", async () => {
    const notes: string[] = [];
    const handlers: Partial<Handlers> = {
      prompt: () => ({
        data: { disposition: "started" },
        job: async () => {
          notes.push("job");
          throw new Error("no luck");
        },
      }),
    };
    const d = desk(handlers);
    await d.send('{"id":"1","type":"prompt","message":"hi"}');
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(d.written).toMatchObject([
      { id: "1", command: "prompt", success: true },
      { id: "1", command: "prompt", success: false, error: "no luck" },
    ]);
    expect(notes).toEqual(["job"]);
  });

  proves(
    "omp.correlation.abort-and-prompt-later-error",
    "abort_and_prompt, too, tells of a failed job by a second answer with its id",
    async () => {
      const handlers: Partial<Handlers> = {
        abort_and_prompt: async () => ({
          data: { disposition: "started" },
          job: () => Promise.reject(new Error("no luck")),
        }),
      };
      const d = desk(handlers);
      await d.send('{"id":"9","type":"abort_and_prompt","message":"hi"}');
      await new Promise((resolve) => setImmediate(resolve));
      expect(d.written).toMatchObject([
        { id: "9", command: "abort_and_prompt", success: true },
        { id: "9", command: "abort_and_prompt", success: false, error: "no luck" },
      ]);
    },
  );

  it("starts its job after the answers to what was read before it, also those that take a few steps", async () => {
    const d = desk({
      abort: async () => {
        for (let step = 0; step < 50; step++) await Promise.resolve();
        return done;
      },
      prompt: () => ({ data: { disposition: "started" }, job: async () => void d.written.push("job") }),
    });
    d.dispatcher.line('{"id":"1","type":"abort"}');
    d.dispatcher.line('{"id":"2","type":"prompt","message":"hi"}');
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(d.written).toMatchObject([{ id: "2" }, { id: "1" }, "job"]);
  });

  const throwing: Partial<Handlers> = {
    get_state: () => {
      throw new Error("boom");
    },
  };
  it("that throws unexpectedly keeps command and id", async () => {
    expect(await desk(throwing).send('{"id":"1","type":"get_state"}')).toMatchObject({
      id: "1",
      command: "get_state",
      error: "boom",
    });
  });
  it("that throws unexpectedly is a parse error in the omp dialect", async () => {
    const answer = await desk(throwing, omp).send('{"id":"1","type":"get_state"}');
    expect(answer).toEqual({
      type: "response",
      command: "parse",
      success: false,
      error: "Failed to parse command: boom",
    });
  });
});

it("hands answers of the host over and never answers them", () => {
  const { dispatcher, answers, written } = desk();
  dispatcher.line('{"type":"extension_ui_response","id":"nobody","value":"x"}');
  expect(answers).toHaveLength(1);
  expect(written).toEqual([]);
});

it("ends a request whose answer is too long to be read, and answers the line", async () => {
  const { dispatcher, answers, written } = desk();
  dispatcher.tooLong(2048, '{"type":"extension_ui_response","id":"ui-1","value":"xxx');
  expect(written).toMatchObject([{ command: "parse", success: false }]);
  await expect.poll(() => answers).toEqual([{ type: "extension_ui_response", id: "ui-1", cancelled: true }]);
  expect(written).toHaveLength(1);
});
