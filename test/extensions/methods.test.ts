import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { linesOf, useCli } from "../modes/cli-process.ts";
import { at, list } from "../support/frame.ts";
import { say, startMockLlm } from "../support/mock-llm.ts";
import { repoRoot, useRpc } from "../support/rpc-process.ts";

/** What transcripts cannot tell of the extensions in test/fixtures/extensions/methods: other modes, and servers of their own. */

const extension = (name: string): string[] => ["-e", join(repoRoot, "test/fixtures/extensions/methods", `${name}.ts`)];

describe("without a host", () => {
  const start = useCli();

  it.each([
    ["print", ["-p"]],
    ["json", ["--mode", "json"]],
  ])(
    "in %s mode nobody can be asked: dialogs get their defaults at once, and what is shown goes to stderr",
    async (mode, args) => {
      const cli = start({
        args: [...args, ...extension("surroundings"), "/look"],
        script: ['text "never asked"'],
        stdin: "",
      });
      const { code, stderr } = await cli.ended;
      const seen = JSON.parse(/\{.*\}/.exec(stderr)?.[0] ?? "{}");
      expect(seen).toMatchObject({ mode, hasUI: false, answers: [false, null], idle: true, cwd: cli.sandbox.cwd });
      expect(code).toBe(0);
    },
  );

  it("a command starts a run, which print mode waits for and json mode tells", async () => {
    const options = { script: ['text "Aye, aye."'], stdin: "" };
    const order = [...extension("first-mate"), "/order now set sail"];
    const printed = await start({ ...options, args: ["-p", ...order] }).ended;
    expect([printed.code, printed.stdout]).toEqual([0, "Aye, aye.\n"]);
    const told = await start({ ...options, args: ["--mode", "json", ...order] }).ended;
    expect(linesOf(told).map(({ type }) => type)).toContain("agent_end");
    expect(told.code).toBe(0);
  });

  it("a run that a command starts and that fails is a failure", async () => {
    const args = ["-p", ...extension("first-mate"), "/order now set sail"];
    const { code, stdout, stderr } = await start({ args, script: ['error 400 "no wind"'], stdin: "" }).ended;
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("no wind");
  });

  it("an option that no extension knows ends the process before anything is asked", async () => {
    const { code, stdout, stderr } = await start({ args: ["-p", ...extension("flags"), "--day", "hi"], stdin: "" })
      .ended;
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("--day");
  });
});

describe("a server of its own", () => {
  const start = useRpc();

  it("answers like any other, and is gone when it is unregistered", async () => {
    const server = await startMockLlm();
    try {
      server.reply(say("I see you."));
      const env = { LIGHTHOUSE_URL: server.baseUrl, LIGHTHOUSE_KEY: "shine" };
      const rpc = start({ env, args: ["--no-session", ...extension("provider"), "--model", "lighthouse/mock-1"] });
      const { frames } = await rpc.prompt("hello");
      expect(JSON.stringify(frames)).toContain("I see you.");
      expect(server.requests.map(({ headers }) => headers["x-api-key"])).toEqual(["shine"]);
      const models = async (): Promise<unknown[]> =>
        list(at(await rpc.call({ type: "get_available_models" }), "data", "models")).map((model) =>
          at(model, "provider"),
        );
      expect(await models()).toContain("lighthouse");
      await rpc.prompt("/out");
      expect(await models()).not.toContain("lighthouse");
    } finally {
      await server.close();
    }
  });

  it("can stand in the way of a provider that is known, with another address, key and headers", async () => {
    const server = await startMockLlm();
    try {
      server.reply(say("Round the cape."));
      const env = { LIGHTHOUSE_URL: server.baseUrl, LIGHTHOUSE_KEY: "shine" };
      const rpc = start({ env, args: ["--no-session", ...extension("provider")] });
      const { frames } = await rpc.prompt("/detour");
      expect(frames).toContainEqual(expect.objectContaining({ method: "notify", message: "true: true" }));
      await rpc.prompt("hello");
      const [request] = server.requests;
      expect(request?.headers).toMatchObject({ "x-way": "round the cape", "x-api-key": "salt" });
    } finally {
      await server.close();
    }
  });
});

describe("a provider that comes as an object", () => {
  const start = useRpc();

  it("finds out which models it has before one of them is chosen, and asks it", async () => {
    const llm = await startMockLlm({ requireKey: "bright" });
    try {
      llm.reply(say("A light!"));
      const rpc = start({
        args: [...extension("lighthouse"), "--no-session", "--model", "lighthouse/mock-1"],
        env: { LIGHTHOUSE_URL: llm.baseUrlOf("openai-completions"), LAMP_KEY: "bright" },
      });
      const { result } = await rpc.prompt("What do you see?");
      expect(result).toMatchObject({ status: "completed" });
      expect(llm.requests[0]?.body).toMatchObject({ model: "mock-1" });
      expect(await rpc.call({ type: "get_last_assistant_text" })).toMatchObject({ data: { text: "A light!" } });
      const { data } = await rpc.call({ type: "get_available_models" });
      const own = list(at(data, "models")).filter((model) => at(model, "provider") === "lighthouse");
      expect(own).toEqual([expect.objectContaining({ id: "mock-1", contextWindow: 100_000 })]);
      // Not asked again so soon.
      expect(llm.listings).toHaveLength(1);
    } finally {
      await llm.close();
    }
  });
});
