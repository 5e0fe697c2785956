import { type Static, type TProperties, Type } from "typebox";
import { defineFrame, table } from "./define.ts";

/** What extensions show and ask through the host: dialogs wait for an answer, the others are only told. */

function request<M extends string, F extends TProperties>(method: M, fields: F) {
  return Type.Object({
    type: Type.Literal("extension_ui_request"),
    id: Type.String(),
    method: Type.Literal(method),
    ...fields,
  });
}

const title = Type.String();
const timeout = Type.Optional(Type.Number({ description: "milliseconds until the default answer is taken" }));

/** These wait for an `extension_ui_response` with the same `id`. */
export const DIALOG_METHODS = ["select", "confirm", "input", "editor"] as const;

export const ExtensionUIRequest = Type.Union([
  request("select", {
    title,
    options: Type.Array(Type.String()),
    optionDetails: Type.Optional(
      Type.Array(Type.Object({ description: Type.Optional(Type.String()) }), {
        description: "one for each option; absent when no option has any",
      }),
    ),
    timeout,
  }),
  request("confirm", { title, message: Type.String(), timeout }),
  request("input", { title, placeholder: Type.Optional(Type.String()), timeout }),
  request("editor", {
    title,
    prefill: Type.Optional(Type.String()),
    promptStyle: Type.Optional(
      Type.Boolean({ description: "the extension wants it to look like the prompt's editor" }),
    ),
    timeout,
  }),
  request("cancel", { targetId: Type.String({ description: "id of the dialog that is withdrawn" }) }),
  request("notify", {
    message: Type.String(),
    notifyType: Type.Optional(Type.Union([Type.Literal("info"), Type.Literal("warning"), Type.Literal("error")])),
  }),
  request("setStatus", {
    statusKey: Type.String(),
    statusText: Type.Optional(Type.String({ description: "absent: the entry is removed" })),
  }),
  request("setWidget", {
    widgetKey: Type.String(),
    widgetLines: Type.Optional(Type.Array(Type.String(), { description: "absent: the widget is removed" })),
    widgetPlacement: Type.Optional(Type.Union([Type.Literal("aboveEditor"), Type.Literal("belowEditor")])),
  }),
  request("setTitle", { title }),
  request("set_editor_text", { text: Type.String() }),
]);
export type ExtensionUIRequest = Static<typeof ExtensionUIRequest>;

/** A dialog as `get_state` lists it, for hosts that join late or lost the request. */
export const PendingDialog = Type.Object({
  id: Type.String({ description: "of the request; the answer repeats it" }),
  method: Type.Union([Type.Literal("select"), Type.Literal("confirm"), Type.Literal("input"), Type.Literal("editor")]),
  title,
  message: Type.Optional(Type.String()),
  options: Type.Optional(Type.Array(Type.String())),
  placeholder: Type.Optional(Type.String()),
  prefill: Type.Optional(Type.String()),
  openedAt: Type.Number({ description: "Unix milliseconds" }),
  timeout,
});
export type PendingDialog = Static<typeof PendingDialog>;

const answer = { type: Type.Literal("extension_ui_response"), id: Type.String() };

export const ExtensionUIResponse = Type.Union([
  Type.Object({ ...answer, value: Type.String() }),
  Type.Object({ ...answer, confirmed: Type.Boolean() }),
  Type.Object({ ...answer, cancelled: Type.Literal(true), timedOut: Type.Optional(Type.Boolean()) }),
]);
export type ExtensionUIResponse = Static<typeof ExtensionUIResponse>;

const type = "extension_ui_request";

export const EXTENSION_UI_FRAMES = table({
  extension_ui_request: defineFrame({
    type,
    summary:
      "An extension shows or asks something, or a tool call waits for its [approval](#approvals). `select`, `confirm`, `input` and `editor` wait for an answer with the same `id`. A dialog that is withdrawn, because its `timeout` is over or the extension no longer asks, is told by `cancel` (in the pi dialect by nothing); what is answered to it afterwards is ignored.",
    direction: "out",
    schema: ExtensionUIRequest,
    systems: ["pi", "omp", "xcsh"],
    examples: [
      { type, id: "ui-1", method: "select", title: "Which branch?", options: ["main", "next"], timeout: 10000 },
      {
        type,
        id: "ui-2",
        method: "select",
        title: "Which test?",
        options: ["unit", "all"],
        optionDetails: [{ description: "a few seconds" }, {}],
      },
      { type, id: "ui-3", method: "confirm", title: "Delete the folder?", message: "It is not empty.", timeout: 5000 },
      { type, id: "ui-4", method: "input", title: "Name", placeholder: "feature/..." },
      { type, id: "ui-5", method: "editor", title: "Commit message", prefill: "fix: " },
      { type, id: "ui-6", method: "cancel", targetId: "ui-5" },
      { type, id: "ui-7", method: "notify", message: "Formatted 3 files", notifyType: "info" },
      { type, id: "ui-8", method: "setStatus", statusKey: "format", statusText: "formatting" },
      {
        type,
        id: "ui-9",
        method: "setWidget",
        widgetKey: "plan",
        widgetLines: ["1. build"],
        widgetPlacement: "aboveEditor",
      },
      { type, id: "ui-10", method: "setTitle", title: "repair the build" },
      { type, id: "ui-11", method: "set_editor_text", text: "Explain " },
    ],
  }),
  extension_ui_response: defineFrame({
    type: "extension_ui_response",
    summary:
      "The answer to a dialog; it never gets a response itself. The first one with the `id` of an open dialog counts, all others are ignored. `cancelled: true` beats everything else in it; an answer of the wrong kind counts as cancelled, and a `notice` says so.",
    direction: "in",
    schema: ExtensionUIResponse,
    systems: ["pi", "omp", "xcsh"],
    examples: [
      { type: "extension_ui_response", id: "ui-1", value: "main" },
      { type: "extension_ui_response", id: "ui-3", confirmed: true },
      { type: "extension_ui_response", id: "ui-4", cancelled: true },
      { type: "extension_ui_response", id: "ui-5", cancelled: true, timedOut: true },
    ],
  }),
});
