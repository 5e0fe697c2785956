import { at, list } from "../../support/frame.ts";
import { say } from "../../support/mock-llm.ts";
import { type Checks, check, expectText, expectTrue, part } from "../check.ts";
import type { Host } from "../host.ts";

/** Examples that bring providers of their own. */

async function modelsOf(host: Host, provider: string): Promise<string[]> {
  const models = list((await host.call("get_available_models")).models);
  return models.filter((model) => at(model, "provider") === provider).map((model) => String(at(model, "id")));
}

export const PROVIDER_EXAMPLES: Checks = {
  "custom-provider-anthropic": check(
    "its models are listed when its key is there; a prompt is streamed by its own code with the vendor's SDK",
    {
      env: { CUSTOM_ANTHROPIC_API_KEY: "key" },
      fetchedFrom: "https://api.anthropic.com",
      replies: [say("Said by another's code.", 5)],
    },
    async (host) => {
      const ids = await modelsOf(host, "custom-anthropic");
      expectTrue("both models", ids.includes("claude-opus-4-5") && ids.includes("claude-sonnet-4-5"), ids);
      await host.call("set_model", { provider: "custom-anthropic", modelId: "claude-opus-4-5" });
      await host.prompt("hello");
      expectText("the request", host.request(0), "hello");
      const { text } = await host.call("get_last_assistant_text");
      expectText("the answer", String(text), "Said by another's code.");
    },
  ),
  "custom-provider-gitlab-duo": part(
    "its models are listed when its key is there; it asks gitlab.com for a token, so nothing is streamed",
    { env: { GITLAB_TOKEN: "key" } },
    async (host) => {
      const ids = await modelsOf(host, "gitlab-duo");
      expectTrue(
        "some models",
        ids.some((id) => id.startsWith("claude-")) && ids.some((id) => id.startsWith("gpt-")),
        ids,
      );
    },
  ),
};
