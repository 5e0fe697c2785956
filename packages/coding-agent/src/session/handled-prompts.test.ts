import { describe, expect, test } from "vitest";
import { createHandledPrompts } from "./handled-prompts.ts";

/** Prompts 1, 2, ... that end when the test says so. */
function desk({ isRunning = false, isWaiting = false } = {}) {
  const told: string[] = [];
  const handled = createHandledPrompts(
    (event) => {
      const { type, id, status, sessionSettled } = event as unknown as Record<string, unknown>;
      told.push(type === "prompt_result" ? `${id} ${status}${sessionSettled ? ", settled" : ""}` : String(type));
      return undefined as never;
    },
    { isRunning: () => isRunning, isWaiting: () => isWaiting },
  );
  let count = 0;
  const accept = () => {
    count += 1;
    let finish = (): void => undefined;
    const work = (): Promise<void> => new Promise((resolve) => (finish = resolve));
    const job = handled.job({ promptId: `prompt-${count}`, commandId: count }, work);
    return { job, finish: () => finish() };
  };
  return { handled, accept, told };
}
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("prompts that an extension deals with", () => {
  test("end with their result, and with the session settled when nothing else goes on", async () => {
    const { accept, told } = desk();
    const prompt = accept();
    const over = prompt.job();
    expect(told).toEqual([]);
    prompt.finish();
    await over;
    expect(told).toEqual(["1 completed, settled", "session_settled"]);
  });

  test("beside a run they do not settle the session", async () => {
    const { accept, told } = desk({ isRunning: true });
    const prompt = accept();
    const over = prompt.job();
    prompt.finish();
    await over;
    expect(told).toEqual(["1 completed"]);
  });

  test("with messages that wait for the next run the session is at rest, but not done", async () => {
    const { accept, told } = desk({ isWaiting: true });
    const prompt = accept();
    const over = prompt.job();
    prompt.finish();
    await over;
    expect(told).toEqual(["1 completed", "session_settled"]);
  });

  test("of several the last one settles it, also when it has been accepted and not begun", async () => {
    const { accept, told } = desk();
    const [first, second] = [accept(), accept()];
    const firstOver = first.job();
    first.finish();
    await firstOver;
    expect(told).toEqual(["1 completed"]);
    const secondOver = second.job();
    second.finish();
    await secondOver;
    expect(told.slice(1)).toEqual(["2 completed, settled", "session_settled"]);
  });

  test("that come to no end are ended with the process", async () => {
    const { handled, accept, told } = desk();
    const over = accept().job();
    handled.endAll("Request was aborted: stdin was closed");
    await over;
    expect(told).toEqual(["1 aborted, settled", "session_settled"]);
  });

  test("that fail end with an error, and nobody waits for them", async () => {
    const { handled, told } = desk();
    await handled.job({ promptId: "prompt-1", commandId: 1 }, () => Promise.reject(new Error("no file")))();
    expect(told).toEqual(["1 error, settled", "session_settled"]);
    expect(handled.isAny).toBe(false);
    await handled.settled();
  });

  test("are waited for", async () => {
    const { handled, accept } = desk();
    const prompt = accept();
    void prompt.job();
    let isSettled = false;
    void handled.settled().then(() => {
      isSettled = true;
    });
    await breathe();
    expect(isSettled).toBe(false);
    prompt.finish();
    await breathe();
    expect(isSettled).toBe(true);
  });
});
