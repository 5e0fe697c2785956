import { COMMANDS, type CommandType as Known, type Params, type Result } from "@tiller/protocol/commands/index";
import type { EventType as KnownEvent, EventFields as KnownFields } from "@tiller/protocol/events";
import { expect, expectTypeOf, it } from "vitest";
import type { CommandType } from "./call.ts";
import type { EventType } from "./events.ts";
import { createCommandMethods } from "./methods.generated.ts";
import type { CommandParams, CommandResults, EventFields } from "./wire-types.generated.ts";

/** The name, when two types cannot stand for each other. */
type Unlike<A, B, Name> = [A, B] extends [B, A] ? never : Name;

/** The compiler is the judge here: `npm run types` fails when what is written for the client says another thing than the tables. */
it("the client's types are those of the tables", () => {
  expectTypeOf<CommandType>().toEqualTypeOf<Known>();
  expectTypeOf<EventType>().toEqualTypeOf<KnownEvent>();
  expectTypeOf<{ [K in Known]: Unlike<CommandParams[K], Params<K>, K> }[Known]>().toBeNever();
  expectTypeOf<{ [K in Known]: Unlike<CommandResults[K], Result<K>, K> }[Known]>().toBeNever();
  expectTypeOf<{ [K in KnownEvent]: Unlike<EventFields[K], KnownFields<K>, K> }[KnownEvent]>().toBeNever();
});

it("there is a method for every command", async () => {
  const called: [string, object][] = [];
  const methods = createCommandMethods((type, params) => {
    called.push([type, params]);
    return Promise.resolve(undefined as never);
  });
  for (const method of Object.values(methods)) await (method as (params: object) => Promise<unknown>)({ a: 1 });
  expect(called).toEqual(Object.keys(COMMANDS).map((type) => [type, { a: 1 }]));
  expect(Object.keys(methods)).toContain("setThinkingLevel");
});
