// What extensions cost: at the start, and while an answer streams that none of them listens to.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inTurns, OURS, prompt, row, withAgent } from "./sampling.mjs";

const COUNT = 20;
const NONE = "no extensions";

/** Small ones, as people write them: a command, a tool, a handler. */
const source = (number) => `
import type { ExtensionAPI } from "@mariozechner/pi-coding-agent";
import { Type } from "typebox";

interface Greeting { name: string }

export default function (pi: ExtensionAPI): void {
  let calls: number = ${number};
  pi.on("session_start", async (_event, ctx) => { calls += ctx.cwd.length; });
  pi.on("tool_call", async (event) => (event.toolName === "never" ? { block: true, reason: "no" } : undefined));
  pi.registerCommand("greet-${number}", { description: "Greets", handler: async (args, ctx) => ctx.ui.notify(\`hello \${args}\`) });
  pi.registerTool({
    name: "greet_${number}",
    label: "Greet",
    description: "Greets somebody.",
    parameters: Type.Object({ name: Type.String() }),
    async execute(_id, params: Greeting) {
      return { content: [{ type: "text", text: \`hello \${params.name} \${calls}\` }] };
    },
  });
}
`;

export async function extensions(bench) {
  const folder = join(bench.tmp, "extensions");
  const cache = join(bench.tmp, "extension-cache");
  mkdirSync(folder, { recursive: true });
  const files = Array.from({ length: COUNT }, (_, at) => join(folder, `greet-${at}.ts`));
  for (const [at, file] of files.entries()) writeFileSync(file, source(at));
  const named = files.flatMap((file) => ["--extension", file]);
  const cacheOf = (home) => join(home.env.PI_CODING_AGENT_DIR, "cache");
  const answered = (agent) => agent.call({ type: "get_state" });

  await withAgent(
    bench,
    OURS,
    async (agent, home) => {
      await answered(agent);
      cpSync(cacheOf(home), cache, { recursive: true });
    },
    { args: named },
  );
  /** A home in which the extensions were compiled before. */
  const session = (home) => {
    cpSync(cache, cacheOf(home), { recursive: true });
    return ["--no-session"];
  };
  const started = async (agent) => (await answered(agent)).at - agent.began;
  const starts = await inTurns(bench, 9, {
    [NONE]: () => withAgent(bench, OURS, started),
    [OURS]: () => withAgent(bench, OURS, started, { args: named, session }),
    uncached: () => withAgent(bench, OURS, started, { args: named }),
  });
  const above = (name) => ({ [OURS]: starts[name].map((ms, at) => ms - starts[NONE][at]) });

  const plan = bench.quick ? "deltas=100" : "deltas=10000";
  const streamed = async (agent) => {
    await answered(agent);
    await prompt(agent, "deltas=20");
    return (await prompt(agent, plan)).end;
  };
  const args = ["--updates", "delta"];
  const streams = await inTurns(bench, 9, {
    [NONE]: () => withAgent(bench, OURS, streamed, { args }),
    [OURS]: () => withAgent(bench, OURS, streamed, { args: [...args, ...named], session }),
  });
  return [
    row(`${COUNT} TypeScript extensions, compiled before: start above none`, "ms", above(OURS), {
      base: null,
      limit: 60,
    }),
    row("the same, compiled at that start", "ms", above("uncached"), { base: null }),
    row(`${plan.slice(7)} deltas with them, none of which listens to deltas`, "ms", streams, {
      base: NONE,
      limit: 1.1,
    }),
  ];
}
