import * as product from "../../packages/coding-agent/src/transcript/sandbox.ts";

/** The same place that stories are played in, on this machine. */

export type Sandbox = product.Sandbox;
export type SandboxOptions = Omit<product.SandboxOptions, "machine">;

export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return product.createSandbox({ ...options, machine: process.env });
}
