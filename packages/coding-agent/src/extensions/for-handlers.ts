import { copied, frozen } from "../lib/copies.ts";
import type { HookEvent, HookName } from "../session/ports.ts";

/** The fields of a payload that are the session's own. What a handler may change in place is not among them. */
const OURS: { readonly [K in HookName]?: readonly string[] } = {
  session_before_compact: ["preparation", "branchEntries"],
  "session.compacting": ["messages"],
  session_compact: ["compactionEntry"],
  session_before_tree: ["preparation"],
  session_tree: ["summaryEntry"],
};

/** The payload as handlers may have it. */
export function forHandlers<K extends HookName>(hook: K, event: HookEvent<K>): HookEvent<K> {
  if (hook === "model_select") {
    const { model, previousModel } = event as HookEvent<"model_select">;
    frozen(model);
    frozen(previousModel);
  }
  const fields = OURS[hook];
  if (!fields) return event;
  const ours = event as unknown as Record<string, unknown>;
  const copies = Object.fromEntries(fields.filter((field) => field in ours).map((name) => [name, copied(ours[name])]));
  return { ...event, ...copies };
}
