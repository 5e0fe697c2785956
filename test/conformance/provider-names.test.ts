import { expect } from "vitest";
import { at } from "../support/frame.ts";
import { useRpc } from "../support/rpc-process.ts";
import { stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";

const start = useRpc();

const env = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b", GEMINI_API_KEY: "c" };

proves("pi.cli.provider-names", "anthropic, openai and google can be chosen by their names", async () => {
  for (const provider of ["anthropic", "openai", "google"]) {
    const rpc = start({ env, args: ["--no-session", "--provider", provider] });
    expect(at(await stateOf(rpc), "model", "provider")).toBe(provider);
  }
});
