import { COMMAND_TABLE } from "@tiller/protocol/command-table.generated";
import { expect, it } from "vitest";
import { createCommandMethods } from "./methods.generated.ts";

it("there is a method for every command", async () => {
  const called: [string, object][] = [];
  const methods = createCommandMethods((type, params) => {
    called.push([type, params]);
    return Promise.resolve(undefined as never);
  });
  for (const method of Object.values(methods)) await (method as (params: object) => Promise<unknown>)({ a: 1 });
  expect(called).toEqual(Object.keys(COMMAND_TABLE).map((type) => [type, { a: 1 }]));
  expect(Object.keys(methods)).toContain("setThinkingLevel");
});
