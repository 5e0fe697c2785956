import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { SETTINGS } from "../../packages/coding-agent/src/config/settings-schema.ts";
import { type Proves, proves } from "./proofs.ts";

/** The seed documents name files. A reader who knows them must find the same things there. */

const root = new URL("../../packages/", import.meta.url);

interface Place {
  proves: Proves;
  path: string;
  exports: string[];
}

const PLACES: Place[] = [
  { proves: "omp.layout.rpc-mode", path: "coding-agent/src/modes/rpc/rpc-mode.ts", exports: ["runRpcMode"] },
  {
    proves: ["omp.layout.rpc-types", "omp.response.data-types"],
    path: "coding-agent/src/modes/rpc/rpc-types.ts",
    exports: ["RpcCommand", "RpcResponse", "Result"],
  },
  { proves: "omp.layout.agent-session", path: "coding-agent/src/session/agent-session.ts", exports: ["AgentSession"] },
  { proves: "omp.layout.agent", path: "agent/src/agent.ts", exports: ["createAgent", "Agent"] },
  { proves: "omp.layout.agent-loop", path: "agent/src/agent-loop.ts", exports: ["runAgent"] },
];

describe("the files that the seed documents name", () => {
  for (const { path, exports } of PLACES) {
    it(`${path} exports ${exports.join(", ")}`, () => {
      const exported = exportLines(readFileSync(new URL(path, root), "utf8"));
      expect(exports.filter((name) => !new RegExp(`\\b${name}\\b`).test(exported))).toEqual([]);
    });
  }

  proves("xcsh.queue-modes.settings-schema", "settings-schema.ts has the defaults of the queue modes", () => {
    const { steeringMode, followUpMode, interruptMode } = SETTINGS;
    expect([steeringMode.default, followUpMode.default, interruptMode.default]).toEqual([
      "one-at-a-time",
      "one-at-a-time",
      "wait",
    ]);
  });
});

/** The export statements of a source, without what stands inside the exported things. */
function exportLines(source: string): string {
  return [...source.matchAll(/^export [^{=(]*(?:\{[^}]*\})?/gm)].map(([line]) => line).join("\n");
}
