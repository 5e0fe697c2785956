import { join } from "node:path";
import { expect, it } from "vitest";
import { useCli } from "./cli-process.ts";

/** `tiller config` as a person calls it; what it tells in which case stands beside its source. */

const start = useCli();

it("lists every setting with where it comes from, and ends well", async () => {
  const { sandbox, ended } = start({
    args: ["config", "--set", "limits.prompt.turns=7"],
    agentFiles: {
      "settings.json":
        '{\n  "steeringMode": "all",\n  "async": { "enabled": true },\n  "defaultProjectTrust": "always"\n}',
    },
    files: { ".pi/settings.json": '{ "shellPath": "/bin/of-the-project" }' },
    env: { PI_CACHE_RETENTION: "long" },
    stdin: "",
  });
  const { code, stdout, stderr } = await ended;
  const user = `user file ${join(sandbox.agentDir, "settings.json")}`;
  const row = (key: string) => stdout.split("\n").find((line) => line.startsWith(`${key} `));
  expect([code, stderr]).toEqual([0, ""]);
  expect(row("steeringMode")).toMatch(/"all" +/);
  expect(row("steeringMode")).toContain(`${user}:2`);
  expect(row("shellPath")).toMatch(/"\/bin\/of-the-project" +project file .*:1$/);
  expect(row("cacheRetention")).toContain("environment PI_CACHE_RETENTION");
  expect(row("limits.prompt.turns")).toMatch(/ 7 +command line$/);
  expect(row("async.enabled")).toMatch(/ false +default; RPC mode does not take true from user file .*:3$/);
});

it("has an exit code of 1 when a file has a mistake, and names it", async () => {
  const { code, stdout } = await start({
    args: ["config"],
    agentFiles: { "settings.json": '{\n  "retry": { "enabled": "yes" }\n}' },
    files: { ".tiller/settings.json": '{ "steeringMode": "all", }\n{' },
    stdin: "",
  }).ended;
  expect(code).toBe(1);
  expect(stdout).toMatch(/x {2}.*agent\/settings\.json:2:14: retry\.enabled is "yes", expected true or false/);
  expect(stdout).toMatch(/x {2}.*\.tiller\/settings\.json:2:1: /);
});
