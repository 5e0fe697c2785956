import { Type } from "typebox";
import { defineCommand, table } from "../define.ts";

export const LOGINS = table({
  get_login_providers: defineCommand({
    type: "get_login_providers",
    summary:
      "Lists the providers that one can log in with. They come with extensions; providers with an API key need no login.",
    params: {},
    result: Type.Object({
      providers: Type.Array(
        Type.Object({
          id: Type.String(),
          name: Type.String(),
          available: Type.Boolean({ description: "`login` works with it" }),
          authenticated: Type.Boolean({ description: "somebody has logged in" }),
        }),
      ),
    }),
    lane: "ordered",
    systems: ["later"],
    examples: [
      {
        params: {},
        data: { providers: [{ id: "harbour", name: "Harbour pass", available: true, authenticated: false }] },
      },
    ],
  }),
  login: defineCommand({
    type: "login",
    summary:
      "Logs in with a provider. The person is led by `extension_ui_request` frames (`notify` with the address, `input` for what the provider wants to know, open for ten minutes); the answer comes when it is done. `abort` gives it up.",
    params: { providerId: Type.String() },
    result: Type.Object({ providerId: Type.String() }),
    lane: "background",
    systems: ["later"],
    examples: [
      { params: { providerId: "harbour" }, data: { providerId: "harbour" } },
      { params: { providerId: "nobody" }, error: "Unknown OAuth provider: nobody" },
    ],
  }),
});
