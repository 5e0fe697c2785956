import { expect, test } from "vitest";
import { COMMANDS } from "./index.ts";

/** Every command that a client of pi, omp or xcsh may send, of whatever release: none is unknown here. */
const OF_THE_FAMILY = `
  prompt steer follow_up abort new_session abort_and_prompt clear_queue
  get_state get_messages get_messages_page
  set_model cycle_model get_available_models
  set_thinking_level cycle_thinking_level get_available_thinking_levels
  set_steering_mode set_follow_up_mode set_interrupt_mode
  compact set_auto_compaction set_auto_retry abort_retry
  bash abort_bash
  get_session_stats export_html switch_session get_last_assistant_text set_session_name
  fork get_fork_messages clone branch get_branch_messages
  get_commands get_available_commands get_entries get_tree
  set_todos set_host_tools
  handoff get_login_providers login
  negotiate_protocol open_session set_fast_mode set_host_uri_schemes set_subagent_subscription set_event_filter
  get_subagents get_subagent_messages`
  .trim()
  .split(/\s+/);

test.each(OF_THE_FAMILY)("%s", (name) => {
  expect(Object.keys(COMMANDS)).toContain(name);
});

test("what else there is came with us", () => {
  const others = Object.values(COMMANDS).filter(({ type }) => !OF_THE_FAMILY.includes(type));
  expect(others.filter(({ systems }) => systems.join() !== "tiller").map(({ type }) => type)).toEqual([]);
});
