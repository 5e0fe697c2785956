import { expectTypeOf, test } from "vitest";
import type { Params, Result, RpcCommand, RpcResponse } from "./commands/index.ts";
import type { EventFields, RpcEvent } from "./events.ts";
import type { Model } from "./model.ts";

/** Compile-time: what the tables mean to those who import their types. */
test("types follow from the tables", () => {
  expectTypeOf<Params<"set_steering_mode">>().toEqualTypeOf<{ mode: "all" | "one-at-a-time" }>();
  expectTypeOf<Params<"prompt">["streamingBehavior"]>().toEqualTypeOf<"steer" | "followUp" | undefined>();
  expectTypeOf<Result<"abort">>().toEqualTypeOf<undefined>();
  expectTypeOf<Result<"set_model">>().toEqualTypeOf<Model>();
  expectTypeOf<null>().toExtend<Result<"cycle_model">>();
  expectTypeOf<RpcCommand<"set_auto_retry">["enabled"]>().toEqualTypeOf<boolean>();
  expectTypeOf<{ type: "response"; command: "get_tree"; success: true }>().not.toExtend<RpcResponse>();
  expectTypeOf<{ type: "response"; command: "abort"; success: true }>().toExtend<RpcResponse>();
  expectTypeOf<EventFields<"agent_settled">>().toEqualTypeOf<{ aborted: boolean }>();
  expectTypeOf<RpcEvent<"notice">["level"]>().toEqualTypeOf<"info" | "warning" | "error">();
});
