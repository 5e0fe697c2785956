import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { type RpcProcess, useRpc } from "../support/rpc-process.ts";
import { ofType } from "./looking.ts";
import { proves } from "./proofs.ts";

const start = useRpc({ args: ["--no-session"] });

/** Says a word, then waits until the test has put a file there; twice, so that progress can be watched without clocks. */
const COMMAND =
  "echo one; until [ -e go-1 ]; do sleep 0.02; done; echo two; until [ -e go-2 ]; do sleep 0.02; done; echo three";
const SCRIPT = [`toolCall bash ${JSON.stringify({ command: COMMAND })} id call_7`, 'text "Done."'];

const shown = (frame: Frame | undefined): unknown => at(frame, "partialResult", "content", 0, "text");
const letGo = (rpc: RpcProcess, name: string): void => writeFileSync(join(rpc.sandbox.cwd, name), "");

/** The frames of a run in which the host sees the output grow step by step. */
async function watchCommand(rpc: RpcProcess): Promise<Frame[]> {
  await rpc.call({ type: "prompt", message: "run it" });
  await rpc.waitFor((frame) => frame.type === "tool_execution_update" && shown(frame) === "one\n");
  letGo(rpc, "go-1");
  await rpc.waitFor((frame) => frame.type === "tool_execution_update" && shown(frame) === "one\ntwo\n");
  letGo(rpc, "go-2");
  await rpc.waitFor("session_settled");
  return rpc.frames;
}

describe("the events of a tool call", () => {
  proves("pi.tools.start-fields", "begin with id, name and arguments as the model gave them", async () => {
    const call = { path: "a.txt", limit: "1" };
    const script = [`toolCall read ${JSON.stringify(call)} id call_1`, 'text "Read."'];
    const { frames } = await start({ script, files: { "a.txt": "A\nB\n" } }).prompt("read");
    expect(ofType(frames, "tool_execution_start")).toEqual([
      {
        type: "tool_execution_start",
        toolCallId: "call_1",
        toolName: "read",
        args: call,
        promptId: "prompt-1",
        turnIndex: 0,
        seq: expect.any(Number),
      },
    ]);
    expect(ofType(frames, "tool_execution_end")).toMatchObject([{ toolCallId: "call_1", isError: false }]);
  });

  proves(
    ["pi.tools.update-fields", "pi.tools.cumulative"],
    "go on with all the output there is so far, never only the new part",
    async () => {
      const frames = await watchCommand(start({ script: SCRIPT }));
      const updates = ofType(frames, "tool_execution_update");
      for (const update of updates) {
        expect(update).toMatchObject({
          toolCallId: "call_7",
          toolName: "bash",
          args: { command: COMMAND },
          partialResult: { content: expect.any(Array) },
        });
      }
      expect(updates.map(shown).slice(0, 3)).toEqual([undefined, "one\n", "one\ntwo\n"]);
      for (const [index, update] of updates.slice(2).entries()) {
        expect(String(shown(update)).startsWith(String(shown(updates[index + 1])))).toBe(true);
      }
      expect(ofType(frames, "tool_execution_end")).toMatchObject([
        { result: { content: [{ type: "text", text: "one\ntwo\nthree\n" }] }, isError: false },
      ]);
    },
  );

  proves("pi.tools.correlated", "all have the id of their call, also when calls run side by side", async () => {
    const script = [
      'toolCall read {"path":"a.txt"} id left + toolCall read {"path":"b.txt"} id right + toolCall bash {"command":"echo C"} id last',
      'text "Read."',
    ];
    const { frames } = await start({ script, files: { "a.txt": "A\n", "b.txt": "B\n" } }).prompt("read both");
    const about = (id: string): Frame[] => frames.filter((frame) => frame.toolCallId === id);
    for (const [id, toolName, text] of [
      ["left", "read", "A\n"],
      ["right", "read", "B\n"],
      ["last", "bash", "C\n"],
    ] as const) {
      const types = about(id).map(({ type }) => type);
      expect(types[0]).toBe("tool_execution_start");
      expect(types.at(-1)).toBe("tool_execution_end");
      expect(types.slice(1, -1).every((type) => type === "tool_execution_update")).toBe(true);
      expect(new Set(about(id).map((frame) => frame.toolName))).toEqual(new Set([toolName]));
      expect(about(id).at(-1)).toMatchObject({ result: { content: [{ text }] } });
      const messages = ofType(frames, "message_end").filter((frame) => at(frame, "message", "toolCallId") === id);
      expect(messages).toMatchObject([{ message: { role: "toolResult", toolName, content: [{ text }] } }]);
    }
    expect(ofType(frames, "tool_execution_update").length).toBeGreaterThan(0);
  });

  const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  it.each([
    ["a tool that does not exist", "toolCall dance {}", "Tool dance not found"],
    ["arguments that do not fit", 'toolCall read {"file":1}', 'Validation failed for tool "read"'],
    ["arguments that are not JSON", 'toolCallRaw read "{\\"path\\": \\"a"', "are not valid JSON"],
    ["arguments nested too deeply", `toolCallRaw read ${JSON.stringify(deep(4200))}`, "more than 500 levels deep"],
    ["a tool that fails", 'toolCall read {"path":"missing.txt"}', "missing.txt"],
  ])("a call with %s ends with an error that the model can read, and the run goes on", async (_name, call, says) => {
    const rpc = start({ script: [call, `expect isError true toolResult ${JSON.stringify(says)} + text "I see."`] });
    const { frames, result } = await rpc.prompt("try");
    expect(result.status).toBe("completed");
    const [end] = ofType(frames, "tool_execution_end");
    expect(end).toMatchObject({ isError: true });
    expect(at(end, "result", "content", 0, "text")).toContain(says);
  });
});
