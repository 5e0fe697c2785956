import { type Handlers, ok } from "../answer.ts";
import type { HostSide } from "../host-side.ts";

export function hostUriHandlers(host: HostSide): Handlers<"set_host_uri_schemes"> {
  return {
    async set_host_uri_schemes(params) {
      const answer = await host.setUriSchemes(params);
      return "refused" in answer ? answer : ok(answer);
    },
  };
}
