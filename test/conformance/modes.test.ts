import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RpcProcess, useRpc } from "../support/rpc-process.ts";
import { stateOf } from "./looking.ts";
import { type Proves, proves } from "./proofs.ts";

/** The switches of a session. What they do to queues, compaction and retry comes with those. */

const start = useRpc({ args: ["--no-session"], script: ['text "unused"'] });

interface Setter {
  proves: Proves;
  type: string;
  param: string;
  field: string;
  values: unknown[];
  wrong: unknown;
}

const SETTERS: Setter[] = [
  {
    proves: ["pi.queue-modes.set-steering"],
    type: "set_steering_mode",
    param: "mode",
    field: "steeringMode",
    values: ["all", "one-at-a-time"],
    wrong: "some",
  },
  {
    proves: ["pi.queue-modes.set-follow-up"],
    type: "set_follow_up_mode",
    param: "mode",
    field: "followUpMode",
    values: ["all", "one-at-a-time"],
    wrong: "some",
  },
  {
    proves: ["omp.queue-modes.set-interrupt"],
    type: "set_interrupt_mode",
    param: "mode",
    field: "interruptMode",
    values: ["immediate", "wait"],
    wrong: "never",
  },
  {
    proves: ["pi.compaction.set-auto"],
    type: "set_auto_compaction",
    param: "enabled",
    field: "autoCompactionEnabled",
    values: [false, true],
    wrong: "no",
  },
  {
    proves: ["pi.retry.set-auto"],
    type: "set_auto_retry",
    param: "enabled",
    field: "autoRetryEnabled",
    values: [false, true],
    wrong: 0,
  },
];

describe("the setters", () => {
  let rpc: RpcProcess;
  beforeAll(() => {
    rpc = new RpcProcess({ args: ["--no-session"], script: ['text "unused"'] });
  });
  afterAll(() => rpc.dispose());

  it.each(SETTERS)("$type sets $field and answers without data $proves", async ({ type, param, field, values }) => {
    for (const value of values) {
      const response = await rpc.call({ id: `to ${value}`, type, [param]: value });
      expect(response).toEqual({ id: `to ${value}`, type: "response", command: type, success: true });
      expect((await stateOf(rpc))[field]).toBe(value);
    }
  });

  it.each(SETTERS)("$type refuses $wrong and nothing at all, and names $param", async ({ type, param, wrong }) => {
    const before = await stateOf(rpc);
    for (const params of [{ [param]: wrong }, {}]) {
      const response = await rpc.call({ id: "x", type, ...params });
      expect(response).toMatchObject({ id: "x", command: type, success: false });
      expect(response.error).toContain(param);
    }
    expect(await stateOf(rpc)).toEqual(before);
  });
});

describe("without a word from anyone", () => {
  proves(
    ["pi.queue-modes.steering-default", "pi.queue-modes.follow-up-default"],
    "both queues deliver one at a time, in every dialect",
    async () => {
      for (const dialect of ["union", "pi", "omp", "xcsh"]) {
        const { steeringMode, followUpMode } = await stateOf(start({ args: ["--dialect", dialect, "--no-session"] }));
        expect([dialect, steeringMode, followUpMode]).toEqual([dialect, "one-at-a-time", "one-at-a-time"]);
      }
    },
  );

  proves("omp.queue-modes.interrupt-default", "steering interrupts at once in pi and omp (decision 9)", async () => {
    for (const dialect of ["pi", "omp"]) {
      const rpc = start({ args: ["--dialect", dialect, "--no-session"] });
      expect((await stateOf(rpc)).interruptMode, dialect).toBe("immediate");
    }
  });

  proves("xcsh.queue-modes.interrupt-default", "steering waits in union and xcsh (decision 9)", async () => {
    for (const dialect of ["union", "xcsh"]) {
      const rpc = start({ args: ["--dialect", dialect, "--no-session"] });
      expect((await stateOf(rpc)).interruptMode, dialect).toBe("wait");
    }
  });
});

it("the settings file beats the default of the dialect, and nothing is written to it (decision 24)", async () => {
  const settings = '{ "interruptMode": "wait" }';
  const rpc = start({ args: ["--dialect", "omp", "--no-session"], agentFiles: { "settings.json": settings } });
  expect((await stateOf(rpc)).interruptMode).toBe("wait");
  await rpc.call({ type: "set_interrupt_mode", mode: "immediate" });
  await rpc.call({ type: "set_steering_mode", mode: "all" });
  await rpc.call({ type: "set_auto_retry", enabled: false });
  expect(readFileSync(join(rpc.sandbox.agentDir, "settings.json"), "utf8")).toBe(settings);
});
