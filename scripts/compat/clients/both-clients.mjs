// What the checks of pi's and omp's RpcClient have in common: they are of one family.
import { readFileSync } from "node:fs";
import { check, createWorld, equal } from "./world.mjs";

export const HANG = [{ text: "Wait" }, { hang: true }];

/** Waits until an event of this type has come, or one that fits. */
export function heard(client, fits) {
  const isIt = typeof fits === "string" ? ({ type }) => type === fits : fits;
  return new Promise((resolve) => {
    const stop = client.onEvent((event) => {
      if (!isIt(event)) return;
      stop();
      resolve(event);
    });
  });
}

/** A prompt that is going on until it is aborted. */
export async function running(client, text = "Go") {
  const begun = heard(client, "message_update");
  await client.prompt(text);
  await begun;
}

/** Checks of methods that are the same in both. */
export const BOTH = {
  cycleModel: {
    async see(client) {
      await client.setModel("mock", "mock-1");
      equal((await client.cycleModel())?.model.id, "mock-2", "the next model");
    },
  },
  setThinkingLevel: {
    async see(client) {
      await client.setModel("mock", "mock-1");
      await client.setThinkingLevel("low");
      equal((await client.getState()).thinkingLevel, "low", "the level");
    },
  },
  cycleThinkingLevel: {
    async see(client) {
      await client.setModel("mock", "mock-1");
      await client.setThinkingLevel("low");
      equal((await client.cycleThinkingLevel())?.level, "medium", "the next level");
    },
  },
  setSteeringMode: {
    async see(client) {
      await client.setSteeringMode("all");
      equal((await client.getState()).steeringMode, "all", "the mode");
    },
  },
  setFollowUpMode: {
    async see(client) {
      await client.setFollowUpMode("all");
      equal((await client.getState()).followUpMode, "all", "the mode");
    },
  },
  setAutoCompaction: {
    async see(client) {
      await client.setAutoCompaction(false);
      equal((await client.getState()).autoCompactionEnabled, false, "autoCompactionEnabled");
    },
  },
  abortBash: {
    async see(client) {
      const result = client.bash("sleep 30");
      await client.abortBash();
      equal((await result).cancelled, true, "cancelled");
    },
  },
  exportHtml: {
    async see(client, { cwd }) {
      await client.promptAndWait("Hi");
      const { path } = await client.exportHtml(`${cwd}/out.html`);
      check(readFileSync(path, "utf8").includes("<html"), `${path} is no page`);
    },
  },
  waitForIdle: {
    turns: [[{ delay: 200 }, { text: "Late." }]],
    async see(client) {
      await client.prompt("Go");
      await client.waitForIdle();
      equal(await client.getLastAssistantText(), "Late.", "the answer");
    },
  },
  steer: {
    turns: [[{ text: "A" }, { toolCall: { name: "bash", arguments: { command: "sleep 0.5" } } }], "Changed."],
    async see(client) {
      const begun = heard(client, "tool_execution_start");
      const events = client.collectEvents();
      await client.prompt("Go");
      await begun;
      await client.steer("Go left");
      const users = (await events).filter(({ type, message }) => type === "message_end" && message.role === "user");
      equal(users.length, 2, "the number of user messages");
    },
  },
};

/** In the default dialect, which must serve everybody, and in the client's own. */
export async function played({ turns = ["Hello."], see }, { RpcClient, cli, parent, own }) {
  for (const dialect of [[], ["--dialect", own.dialect]]) {
    const world = createWorld(parent, cli, turns);
    const args = ["--script", world.script, ...(own.args ?? []), ...dialect];
    const client = new RpcClient({ cliPath: cli, cwd: world.cwd, env: world.env, args });
    try {
      await withTimeout(client.start());
      await withTimeout(see(client, world));
    } catch (error) {
      return { problem: `${dialect.join(" ")} ${error.message}`.trim() };
    } finally {
      await client.stop();
      world.remove();
    }
  }
  return {};
}

export async function withTimeout(work, ms = 20_000) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing within ${ms / 1000} s`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
