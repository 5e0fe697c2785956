import { describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import { useRpc } from "../support/rpc-process.ts";
import { ended, increments, joined, ofType } from "./looking.ts";

/** The two update modes (the decisions' part "Streaming"). Sizes are counted in bytes; nothing here looks at a clock. */

const start = useRpc({ args: ["--no-session"] });
const textOf = (frames: readonly Frame[]): unknown => at(ended(frames, "assistant"), "content", 0, "text");
const withMode = (mode: string): string[] => ["--no-session", "--updates", mode];
const MEGABYTE = 1024 * 1024;

/** Every way in which pieces can arrive: at once, in turns of the event loop, slowly, with characters of all widths. */
const ARRIVALS = [
  ["all at once", 'text "abcd" times 500'],
  ["in turns of the event loop", 'text "abcd" times 500 pace 0'],
  ["with pauses", 'text "abcd" times 20 pace 3 + delay 40 + text "efgh" times 20 pace 3'],
  ["with characters of every width", 'text "aé→🙂\u2028\\"\\\\\\n" times 200 pace 0'],
] as const;

describe.each(["snapshot", "delta"])("in %s mode", (mode) => {
  it("the joined deltas are the final text, however the pieces come", async () => {
    const rpc = start({ script: ARRIVALS.map(([, line]) => line), args: withMode(mode) });
    for (const [how] of ARRIVALS) {
      const { frames } = await rpc.prompt(`pieces ${how}`);
      const text = String(textOf(frames));
      expect(text.length, how).toBeGreaterThanOrEqual(160);
      expect(joined(frames), how).toBe(text);
      expect(increments(frames, "text_end"), how).toMatchObject([{ content: text }]);
    }
  });

  it("a host that reads nothing for a while misses nothing", async () => {
    const rpc = start({ script: ['text "0123456789abcdef" times 20000 + text "."'], args: withMode(mode) });
    await rpc.waitFor("ready");
    rpc.pauseReading();
    rpc.send({ id: "p", type: "prompt", message: "go" });
    await new Promise((resolve) => setTimeout(resolve, 150));
    rpc.resumeReading();
    await rpc.waitFor("session_settled");
    expect(joined(rpc.frames)).toBe(`${"0123456789abcdef".repeat(20000)}.`);
  });
});

describe("delta mode", () => {
  it("sends each piece as it is, and thin messages", async () => {
    const { frames } = await start({ script: ['text "abcd" times 100'], args: withMode("delta") }).prompt("go");
    expect(increments(frames, "text_delta").map(({ delta }) => delta)).toEqual(Array(100).fill("abcd"));
    const thin = { role: "assistant", content: [] };
    for (const frame of ofType(frames, "message_update")) expect(frame.message).toEqual(thin);
    expect(textOf(frames)).toBe("abcd".repeat(100));
  });

  it("sends output in step with the text: twice the pieces, twice the bytes", async () => {
    const bytesFor = async (pieces: number): Promise<number> => {
      const rpc = start({ script: [`text "abcd" times ${pieces}`], args: withMode("delta") });
      const { frames } = await rpc.prompt("go");
      expect(increments(frames, "text_delta")).toHaveLength(pieces);
      return rpc.stdoutBytes;
    };
    const ten = await bytesFor(10_000);
    const twenty = await bytesFor(20_000);
    expect(twenty / ten).toBeGreaterThan(1.8);
    expect(twenty / ten).toBeLessThanOrEqual(2.2);
  });
});

describe("snapshot mode", () => {
  it("sends 10,000 pieces that arrive at once in at most 20 MB", async () => {
    const rpc = start({ script: ['text "abcd" times 10000'] });
    const { frames } = await rpc.prompt("go");
    expect(joined(frames)).toBe("abcd".repeat(10_000));
    expect(rpc.stdoutBytes).toBeLessThanOrEqual(20 * MEGABYTE);
  });

  it("does not repeat a long message for each of its pieces, however fast they come", async () => {
    const rpc = start({ script: [`text ${JSON.stringify("x".repeat(3000))} + text "y" times 1000 pace 0`] });
    const { frames } = await rpc.prompt("go");
    expect(joined(frames)).toBe("x".repeat(3000) + "y".repeat(1000));
    expect(increments(frames, "text_delta").length).toBeLessThan(500);
  });

  it("lets nothing overtake a delta that waits", async () => {
    const line = `text ${JSON.stringify("x".repeat(3000))} + text "y" + thinking "hm" + toolCall read {"path":"a"} chunk 3`;
    const { frames } = await start({ script: [line, 'text "done"'] }).prompt("go");
    const kinds = increments(
      frames.slice(
        0,
        frames.findIndex(({ type }) => type === "turn_end"),
      ),
    );
    const order = kinds.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);
    expect(order).toEqual([
      "start",
      ...["text_start", "text_delta", "text_end", "thinking_start", "thinking_delta", "thinking_end"],
      ...["toolcall_start", "toolcall_delta", "toolcall_end", "done"],
    ]);
  });
});

describe("set_update_mode", () => {
  it("changes the mode in the middle of an answer, and no piece is lost or said twice", async () => {
    const rpc = start({ script: [`text ${JSON.stringify("x".repeat(3000))} + endless "abcd" pace 5`] });
    const isThin = (frame: Frame): boolean =>
      at(frame, "assistantMessageEvent", "type") === "text_delta" && at(frame, "message", "api") === undefined;
    const isWhole = (frame: Frame): boolean =>
      at(frame, "assistantMessageEvent", "type") === "text_delta" && at(frame, "message", "api") === "script";
    await rpc.call({ type: "prompt", message: "go" });
    await rpc.waitFor(isWhole);
    const response = await rpc.call({ id: "u", type: "set_update_mode", mode: "delta" });
    expect(response).toEqual({ id: "u", type: "response", command: "set_update_mode", success: true });
    await rpc.waitFor(isThin, { since: rpc.frames.indexOf(response) });
    const back = await rpc.call({ type: "set_update_mode", mode: "snapshot" });
    await rpc.waitFor(isWhole, { since: rpc.frames.indexOf(back) });
    await rpc.call({ type: "abort" });
    expect(textOf(rpc.frames)).toMatch(/^x{3000}(abcd){3,}$/);
    expect(joined(rpc.frames)).toBe(textOf(rpc.frames));
  });

  it("refuses a mode nobody knows and names those there are", async () => {
    const response = await start().call({ id: "u", type: "set_update_mode", mode: "fast" });
    expect(response).toMatchObject({ id: "u", command: "set_update_mode", success: false });
    expect(response.error).toMatch(/mode.*snapshot.*delta/s);
  });

  it("can also be said by a setting", async () => {
    const rpc = start({
      script: ['text "abcd" times 3'],
      agentFiles: { "settings.json": '{"updates":{"mode":"delta"}}' },
    });
    const { frames } = await rpc.prompt("go");
    expect(increments(frames, "text_delta")).toHaveLength(3);
  });
});
