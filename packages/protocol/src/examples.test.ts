import { Type } from "typebox";
import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import { explainEvent, explainFrame, explainResult } from "./check.ts";
import { COMMANDS, type CommandType } from "./commands/index.ts";
import type { CommandRow, EventRow, FrameRow } from "./define.ts";
import { EVENTS, type EventType } from "./events.ts";
import { FRAMES, type FrameType } from "./frames.ts";

const commands: CommandRow[] = Object.values(COMMANDS);
const events: EventRow[] = Object.values(EVENTS);
const frames: FrameRow[] = Object.values(FRAMES);

/** What the three documented protocols have. A row that goes missing here is a promise broken. */
const DOCUMENTED = {
  pi: `prompt steer follow_up abort new_session get_state get_messages set_model cycle_model get_available_models
    set_thinking_level cycle_thinking_level set_steering_mode set_follow_up_mode compact set_auto_compaction
    set_auto_retry abort_retry bash abort_bash get_session_stats export_html switch_session fork get_fork_messages
    get_last_assistant_text set_session_name get_commands`,
  omp: `prompt steer follow_up abort abort_and_prompt new_session get_state set_model cycle_model get_available_models
    set_thinking_level cycle_thinking_level set_steering_mode set_follow_up_mode set_interrupt_mode compact
    set_auto_compaction set_auto_retry abort_retry bash abort_bash get_session_stats export_html switch_session branch
    get_branch_messages get_last_assistant_text set_session_name get_messages`,
  xcsh: `prompt steer follow_up abort abort_and_prompt new_session get_state set_todos set_host_tools set_model
    cycle_model get_available_models set_thinking_level cycle_thinking_level set_steering_mode set_follow_up_mode
    set_interrupt_mode compact set_auto_compaction set_auto_retry abort_retry bash abort_bash get_session_stats
    export_html switch_session branch get_branch_messages get_last_assistant_text set_session_name get_messages`,
} as const;

const COMMON_EVENTS = `extension_error agent_start agent_end turn_start turn_end message_start message_update message_end
  tool_execution_start tool_execution_update tool_execution_end auto_compaction_start auto_compaction_end
  auto_retry_start auto_retry_end`;

const DOCUMENTED_EVENTS = {
  pi: COMMON_EVENTS,
  omp: `${COMMON_EVENTS} ttsr_triggered todo_reminder`,
  xcsh: `${COMMON_EVENTS} ttsr_triggered todo_reminder todo_auto_clear`,
} as const;

const names = (text: string) => text.split(/\s+/).toSorted();

describe.each(["pi", "omp", "xcsh"] as const)("the tables against the documented protocol of %s", (system) => {
  test("the same commands", () => {
    const rows = commands.filter((row) => row.systems.includes(system));
    expect(rows.map((row) => row.type).toSorted()).toEqual(names(DOCUMENTED[system]));
  });

  test("the same events", () => {
    const rows = events.filter((row) => row.systems.includes(system));
    expect(rows.map((row) => row.type).toSorted()).toEqual(names(DOCUMENTED_EVENTS[system]));
  });
});

test("what works in this release", () => {
  const working = commands.filter((row) => row.opens === undefined).map((row) => row.type);
  expect(working.toSorted()).toEqual(
    names(`prompt abort get_state get_messages get_last_assistant_text set_model cycle_model get_available_models
      set_thinking_level cycle_thinking_level get_available_thinking_levels set_steering_mode set_follow_up_mode
      set_interrupt_mode set_auto_compaction set_auto_retry set_update_mode get_capabilities steer follow_up
      abort_and_prompt clear_queue abort_retry bash abort_bash get_messages_page compact new_session switch_session
      fork branch clone get_fork_messages get_branch_messages get_session_stats set_session_name get_entries get_tree
      navigate_tree set_label list_sessions delete_session get_commands get_available_commands get_context
      set_host_tools set_host_uri_schemes set_todos get_subagents get_subagent_messages set_subagent_subscription
      negotiate_protocol subscribe set_event_filter open_session handoff set_fast_mode get_login_providers login`),
  );
});

describe.each(commands.map((row) => [row.type, row] as const))("command %s", (type, row) => {
  test("has an example that is answered with success", () => {
    expect(row.examples.some((example) => example.error === undefined)).toBe(true);
  });

  test.each(row.examples)("example %# fits: params and data", (example) => {
    expect(Check(Type.Object(row.params), example.params)).toBe(true);
    if (example.error === undefined) expect(explainResult(type as CommandType, example.data)).toBeUndefined();
    else expect(example.data).toBeUndefined();
  });
});

describe.each(events.map((row) => [row.type, row] as const))("event %s", (type, row) => {
  test("its examples fit, with the envelope", () => {
    expect(row.examples.length).toBeGreaterThan(0);
    for (const fields of row.examples) {
      const frame = { type, seq: 1, promptId: "prompt-1", ...fields };
      expect(explainEvent(type as EventType, frame)).toBeUndefined();
      expect(explainEvent(type as EventType, { type, ...fields })).toBe(
        `${type}: "seq" is missing, it must be an integer`,
      );
    }
  });

  test("only prompt_result and bash_execution_update carry an id", () => {
    expect("id" in row.fields).toBe(type === "prompt_result" || type === "bash_execution_update");
  });
});

describe.each(frames.map((row) => [row.type, row] as const))("frame %s", (type, row) => {
  test("its examples fit and carry its type", () => {
    expect(row.examples.length).toBeGreaterThan(0);
    for (const example of row.examples) {
      expect(explainFrame(type as FrameType, example)).toBeUndefined();
      expect(example).toMatchObject({ type });
      expect(explainFrame(type as FrameType, { ...(example as object), type: "other" })).toBeTypeOf("string");
    }
  });
});

test("no name stands for two things", () => {
  const all = [...commands, ...events, ...frames].map((row) => row.type);
  expect(all.length).toBe(new Set(all).size);
});
