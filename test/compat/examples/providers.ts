import { at, list } from "../../support/frame.ts";
import { say } from "../../support/mock-llm.ts";
import { type Checks, check, expectText, expectTrue } from "../check.ts";
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
  "custom-provider-gitlab-duo": check(
    "its models are listed when its key is there; with a token of its own a prompt goes to the gateway, in the words of both vendors",
    {
      env: { GITLAB_TOKEN: "key" },
      fetchedFrom: "https://cloud.gitlab.com",
      fetched: {
        "https://gitlab.com/api/v4/ai/third_party_agents/direct_access": {
          token: "token-7",
          headers: { "x-gate": "9" },
        },
      },
      replies: [say("Said through a gateway.", 5), say("So is this.", 5)],
    },
    async (host) => {
      const ids = await modelsOf(host, "gitlab-duo");
      const answered = async (family: string, request: number, answer: string): Promise<void> => {
        const modelId = ids.find((id) => id.startsWith(family));
        expectTrue(`a model that is ${family}`, modelId !== undefined, ids);
        await host.call("set_model", { provider: "gitlab-duo", modelId });
        await host.prompt(`hello ${family}`);
        expectText("the request", host.request(request), `hello ${family}`);
        const { text } = await host.call("get_last_assistant_text");
        expectText("the answer", String(text), answer);
      };
      await answered("claude-", 0, "Said through a gateway.");
      await answered("gpt-", 1, "So is this.");
    },
  ),
};
