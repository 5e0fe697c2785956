import { expect, test } from "vitest";
import type { CommandType, Params, Result, RpcCommand, RpcResponse } from "./commands/index.ts";
import type { Lane, System } from "./define.ts";
import type { EventFields, EventType, RpcEvent } from "./events.ts";
import type { ExtensionUIRequest, ExtensionUIResponse } from "./extension-ui.ts";
import type { FrameType, ReadyFrame } from "./frames.ts";
import type { HostToolCall, HostToolResult } from "./host-tools.ts";
import type { HostUriResult } from "./host-uris.ts";
import type { PromptLimits } from "./limits.ts";
import type { AgentMessage, LlmMessage } from "./message.ts";
import type { Model } from "./model.ts";
import type * as Plain from "./plain-types.generated.ts";
import type { SessionEntry, SessionHeader } from "./session-entry.ts";
import type { SessionState } from "./state.ts";
import type { StreamEvent } from "./stream-event.ts";
import type { StreamRule } from "./stream-rule.ts";
import type { ToolSpec } from "./tool.ts";
import type { RpcChunk, RpcFrameError } from "./transport.ts";

/** What users of the package and the client get, spelled out, is what we work with. The compiler decides; nothing happens at run time. */

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
/** The names of those that differ, for whoever reads the error of the compiler; "same" if there are none. */
type Different<T extends Record<string, boolean>> = { [K in keyof T]: T[K] extends true ? never : K }[keyof T];
type Verdict<T extends Record<string, boolean>> = [Different<T>] extends [never] ? "same" : Different<T>;

interface Ours {
  command: RpcCommand;
  response: RpcResponse;
  event: RpcEvent;
  commandType: CommandType;
  eventType: EventType;
  frameType: FrameType;
  ready: ReadyFrame;
  chunk: RpcChunk;
  frameError: RpcFrameError;
  message: AgentMessage;
  llmMessage: LlmMessage;
  model: Model;
  state: SessionState;
  header: SessionHeader;
  entry: SessionEntry;
  streamEvent: StreamEvent;
  rule: StreamRule;
  limits: PromptLimits;
  dialog: ExtensionUIRequest;
  dialogAnswer: ExtensionUIResponse;
  hostToolCall: HostToolCall;
  hostToolResult: HostToolResult;
  hostUriResult: HostUriResult;
  lane: Lane;
  system: System;
  toolSpec: ToolSpec;
}

interface Theirs {
  command: Plain.RpcCommand;
  response: Plain.RpcResponse;
  event: Plain.RpcEvent;
  commandType: Plain.CommandType;
  eventType: Plain.EventType;
  frameType: Plain.FrameType;
  ready: Plain.ReadyFrame;
  chunk: Plain.RpcChunk;
  frameError: Plain.RpcFrameError;
  message: Plain.AgentMessage;
  llmMessage: Plain.LlmMessage;
  model: Plain.Model;
  state: Plain.SessionState;
  header: Plain.SessionHeader;
  entry: Plain.SessionEntry;
  streamEvent: Plain.StreamEvent;
  rule: Plain.StreamRule;
  limits: Plain.PromptLimits;
  dialog: Plain.ExtensionUIRequest;
  dialogAnswer: Plain.ExtensionUIResponse;
  hostToolCall: Plain.HostToolCall;
  hostToolResult: Plain.HostToolResult;
  hostUriResult: Plain.HostUriResult;
  lane: Plain.Lane;
  system: Plain.System;
  toolSpec: Plain.ToolSpec;
}

const checks = {
  types: "same" satisfies Verdict<{ [K in keyof Ours]: Same<Ours[K], Theirs[K]> }>,
  params: "same" satisfies Verdict<{ [K in CommandType]: Same<Params<K>, Plain.Params<K>> }>,
  results: "same" satisfies Verdict<{ [K in CommandType]: Same<Result<K>, Plain.Result<K>> }>,
  events: "same" satisfies Verdict<{ [K in EventType]: Same<EventFields<K>, Plain.EventFields<K>> }>,
};

test("the types of the package are those of the tables: this file compiles", () => {
  expect(checks).toEqual({ types: "same", params: "same", results: "same", events: "same" });
});
