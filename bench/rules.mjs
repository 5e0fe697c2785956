// What stream rules cost while an answer streams that breaks none of them.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuMs } from "./machine.mjs";
import { inTurns, OURS, prompt, row, withAgent } from "./sampling.mjs";

const COUNT = 100;
const NONE = "no rules";

/** As people write them: words, types, calls, things that stand some way apart. The numbers keep them from being one. */
const CONDITIONS = [
  (n) => `: any${n}\\b`,
  (n) => `(?i)\\btodo-${n}\\b`,
  (n) => `console\\.(log|debug|info)\\(${n}`,
  (n) => `catch \\((e|err|error)${n}\\) \\{\\s*\\}`,
  (n) => `import .* from "lib-${n}"`,
  (n) => `(?m)^\\s*#!/bin/(ba)?sh -${n}`,
  (n) => `eval-?${n}\\([^)]*\\)`,
  (n) => `(password|secret|token)_${n}\\s*[:=]`,
  (n) => `rm -rf? /var/${n}.*--force`,
  (n) => `[A-Z][a-z]+Manager${n}`,
];

function plantRules(home) {
  const folder = join(home.env.PI_CODING_AGENT_DIR, "rules");
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < COUNT; n++) {
    const condition = JSON.stringify(CONDITIONS[n % CONDITIONS.length](n));
    writeFileSync(join(folder, `rule-${n}.md`), `---\ncondition: ${condition}\n---\nDo not.\n`);
  }
  return ["--no-session"];
}

export async function rules(bench) {
  const [few, many] = bench.quick ? [100, 500] : [10_000, 50_000];
  const sampler = (count, session) => () =>
    withAgent(
      bench,
      OURS,
      async (agent) => {
        await agent.call({ type: "get_state" });
        await prompt(agent, "deltas=20");
        const before = cpuMs(agent.pid);
        await prompt(agent, `deltas=${count}`);
        const ms = cpuMs(agent.pid) - before;
        return { ms, usEach: (ms * 1000) / count };
      },
      { args: ["--updates", "delta"], ...(session && { session }) },
    );
  const samples = await inTurns(bench, 9, {
    [NONE]: sampler(many),
    [OURS]: sampler(many, plantRules),
    few: sampler(few, plantRules),
  });
  const growth = { [OURS]: samples[OURS], [`${few} deltas`]: samples.few };
  return [
    row(`${many} deltas with ${COUNT} stream rules, processor time`, "ms", samples, {
      key: "ms",
      base: NONE,
      limit: 1.5,
    }),
    row(`processor time of one of ${many} deltas with them`, "µs", growth, {
      key: "usEach",
      base: `${few} deltas`,
      limit: 1.25,
    }),
  ];
}
