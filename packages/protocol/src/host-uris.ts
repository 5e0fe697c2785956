import { type Static, Type } from "typebox";
import { defineFrame, table } from "./define.ts";

/** Resources of the host behind URLs of their own: it names the schemes, we ask it for what the tools read and write there. */

export const HostUriScheme = Type.Object({
  scheme: Type.String({ description: "the part before `://`: a letter, then letters, digits, `+`, `.` and `-`" }),
  description: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: "what the model is told of it" })),
  writable: Type.Optional(
    Type.Union([Type.Boolean(), Type.Null()], { description: "the tool write may be used on it" }),
  ),
  immutable: Type.Optional(Type.Union([Type.Boolean(), Type.Null()], { description: "what is there never changes" })),
  timeoutMs: Type.Optional(
    Type.Union([Type.Number(), Type.Null()], {
      description: "how long the host may take; without it as long as it likes",
    }),
  ),
});
export type HostUriScheme = Static<typeof HostUriScheme>;

export const HostUriRequest = Type.Object({
  type: Type.Literal("host_uri_request"),
  id: Type.String({ description: "of this request; the result repeats it" }),
  operation: Type.Union([Type.Literal("read"), Type.Literal("write")]),
  url: Type.String({ description: "as the model wrote it" }),
  content: Type.Optional(Type.String({ description: "what is to be written, whole" })),
});
export type HostUriRequest = Static<typeof HostUriRequest>;

export const HostUriCancel = Type.Object({
  type: Type.Literal("host_uri_cancel"),
  id: Type.String(),
  targetId: Type.String({ description: "id of the host_uri_request that is given up" }),
});
export type HostUriCancel = Static<typeof HostUriCancel>;

export const HostUriResult = Type.Object({
  type: Type.Literal("host_uri_result"),
  id: Type.String(),
  content: Type.Optional(
    Type.String({ description: "the text, or an image in base64; of a write what the model reads, if anything" }),
  ),
  contentType: Type.Optional(
    Type.String({ description: "`text/plain` without it; `image/png`, `-jpeg`, `-gif` or `-webp` make it an image" }),
  ),
  notes: Type.Optional(
    Type.Union([Type.String(), Type.Array(Type.String())], { description: "shown under the content" }),
  ),
  immutable: Type.Optional(Type.Boolean()),
  isError: Type.Optional(Type.Boolean()),
  error: Type.Optional(Type.String({ description: "what went wrong, when `isError` is true" })),
});
export type HostUriResult = Static<typeof HostUriResult>;

const later = { systems: ["later"] } as const;

export const HOST_URI_FRAMES = table({
  host_uri_request: defineFrame({
    type: "host_uri_request",
    summary:
      "Asks the host for what stands behind one of its URLs, or to write there; it answers with `host_uri_result`.",
    direction: "out",
    schema: HostUriRequest,
    ...later,
    examples: [
      { type: "host_uri_request", id: "host-1", operation: "read", url: "db://orders/7" },
      { type: "host_uri_request", id: "host-2", operation: "write", url: "db://orders/7", content: "paid" },
    ],
  }),
  host_uri_cancel: defineFrame({
    type: "host_uri_cancel",
    summary: "Tells the host that the result of a request is no longer wanted.",
    direction: "out",
    schema: HostUriCancel,
    ...later,
    examples: [{ type: "host_uri_cancel", id: "host-3", targetId: "host-1" }],
  }),
  host_uri_result: defineFrame({
    type: "host_uri_result",
    summary: "What stands behind the URL, or that it was written. With `isError` the model sees `error` as a failure.",
    direction: "in",
    schema: HostUriResult,
    ...later,
    examples: [
      { type: "host_uri_result", id: "host-1", content: "order 7: open" },
      { type: "host_uri_result", id: "host-2" },
      { type: "host_uri_result", id: "host-1", isError: true, error: "there is no order 7" },
    ],
  }),
});
