import { Type } from "typebox";
import { table } from "./define.ts";
import { defineEntry } from "./define-entry.ts";

/** Kinds of entries that other programs of the family write. They are kept and shown; of these we write only `ttsr_injection`. */

const nullableText = Type.Union([Type.String(), Type.Null()]);
const texts = Type.Array(Type.String());

export const FAMILY_ENTRIES = table({
  context_edit: defineEntry({
    type: "context_edit",
    summary: "From here on the model sees an earlier entry differently, or not at all.",
    fields: {
      targetId: Type.String(),
      replacement: Type.Unknown({ description: "null leaves the entry out; a text, or blocks, are said instead" }),
    },
    systems: ["later"],
    context: "its target, changed",
    examples: [{ targetId: "1a2b3c4d", replacement: null }],
  }),
  service_tier_change: defineEntry({
    type: "service_tier_change",
    summary: "Another service tier of the provider was chosen.",
    fields: { serviceTier: nullableText },
    systems: ["omp", "xcsh"],
    examples: [{ serviceTier: "priority" }, { serviceTier: null }],
  }),
  ttsr_injection: defineEntry({
    type: "ttsr_injection",
    summary: "Rules that interrupted the stream and were given to the model.",
    fields: { injectedRules: texts },
    systems: ["omp", "xcsh"],
    examples: [{ injectedRules: ["no-console-log"] }],
  }),
  mcp_tool_selection: defineEntry({
    type: "mcp_tool_selection",
    summary: "The tools of MCP servers that were switched on.",
    fields: { selectedToolNames: texts },
    systems: ["xcsh"],
    examples: [{ selectedToolNames: ["mcp_docs_search"] }],
  }),
  mode_change: defineEntry({
    type: "mode_change",
    summary: "The program went into another mode, for example one that only plans.",
    fields: { mode: Type.String(), data: Type.Optional(Type.Unknown()) },
    systems: ["xcsh"],
    examples: [{ mode: "plan" }],
  }),
  title_change: defineEntry({
    type: "title_change",
    summary: "The title of the session changed.",
    fields: {
      title: Type.Optional(Type.String()),
      source: Type.Optional(Type.String({ description: "`auto` or `user`" })),
    },
    systems: ["later"],
    examples: [{ title: "Repair the build", source: "user" }],
  }),
});
