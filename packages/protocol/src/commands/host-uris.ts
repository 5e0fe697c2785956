import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";
import type { HostUriScheme } from "../host-uris.ts";

export const HOST_URIS = table({
  set_host_uri_schemes: defineCommand({
    type: "set_host_uri_schemes",
    summary: "Replaces the URL schemes behind which the host has something to read, and to write if it says so.",
    params: {
      // Looked at one by one, so that the answer names the scheme that is wrong.
      schemes: Type.Array(
        Type.Unsafe<HostUriScheme>(
          Type.Unknown({
            description:
              "`scheme` and, if wanted, `description`, `writable`, `immutable` (what is there never changes) and `timeoutMs`",
          }),
        ),
      ),
    },
    result: Type.Object({ schemes: Type.Array(Type.String({ description: "in lower case" })) }),
    lane: "ordered",
    systems: ["later"],
    examples: [
      {
        params: { schemes: [{ scheme: "db", description: "Orders of the shop", writable: true }] },
        data: { schemes: ["db"] },
      },
    ],
  }),
});
