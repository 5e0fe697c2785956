import { type Handlers, ok } from "../answer.ts";
import type { HostSide } from "../host-side.ts";

export function hostToolHandlers(host: HostSide): Handlers<"set_host_tools"> {
  return {
    async set_host_tools(params) {
      const answer = await host.setTools(params);
      return "refused" in answer ? answer : ok(answer);
    },
  };
}
