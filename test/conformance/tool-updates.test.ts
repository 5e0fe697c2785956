import { expect } from "vitest";
import { at } from "../support/frame.ts";
import { useRpc } from "../support/rpc-process.ts";
import { ofType } from "./looking.ts";
import { proves } from "./proofs.ts";

const start = useRpc();

proves(
  "pi.tools.update-details",
  "the updates of the bash tool say what was cut and where all of it is, as soon as there is output",
  async () => {
    // The second command writes more than an update shows, and waits until it has been told.
    const script = [
      'toolCall bash {"command":"echo one; sleep 0.3"} id c1',
      'toolCall bash {"command":"seq 1 30000; sleep 0.5"} id c2',
      'text "done"',
    ];
    const rpc = start({ script, args: ["--no-session"] });
    const { frames } = await rpc.prompt("go");
    const updatesOf = (id: string): unknown[] =>
      ofType(frames, "tool_execution_update")
        .filter(({ toolCallId }) => toolCallId === id)
        .map(({ partialResult }) => partialResult)
        .filter((result) => at(result, "content", 0) !== undefined);
    const small = updatesOf("c1");
    expect(small.length).toBeGreaterThan(0);
    for (const update of small) {
      expect(update).toEqual({
        content: [{ type: "text", text: "one\n" }],
        details: { truncation: null, fullOutputPath: null },
      });
    }
    expect(updatesOf("c2").at(-1)).toMatchObject({
      details: { truncation: { truncated: true }, fullOutputPath: expect.stringMatching(/^\//) },
    });
  },
);
