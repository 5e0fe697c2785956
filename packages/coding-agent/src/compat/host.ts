import type { ModelRegistry } from "@tiller/ai/model-registry";
import type { StreamModel } from "@tiller/ai/provider";
import type { Clock, IdSource } from "@tiller/protocol/clock";
import type { AgentMessage, LlmMessage } from "@tiller/protocol/message";
import type { Env } from "../config/paths.ts";
import type { ShellSettings } from "../exec/shell.ts";

/** What the modules that extensions import need of the running process. */
export interface CompatHost {
  /** Of the product. */
  version: string;
  agentDir: string;
  /** Where the product itself lies: the folder of its package.json. */
  packageDir(): string;
  cwd: string;
  env: Env;
  clock: Clock;
  ids: IdSource;
  /** How commands are run, when not as usual. */
  shell?: ShellSettings;
  models: CompatModels;
  /** Asks a model; also one whose provider an extension has registered. */
  stream: StreamModel;
  /** Loaded for those who want it. */
  conversation(): Promise<CompatConversation>;
  /** The value of a setting by its dotted name; undefined when nobody has set it and there is no default. */
  setting(key: string): unknown;
  /** A line for people, not for the model. */
  log(line: string): void;
  /** An extension uses something that does nothing here; told once for each name. */
  onStandIn?(name: string): void;
}

export type CompatModels = Pick<
  ModelRegistry,
  "all" | "available" | "find" | "modelsOf" | "providers" | "hasCredentials" | "credentials" | "providerCredentials"
>;

/** The session's own view of a conversation, so that extensions see what the model and the summaries see. */
export interface CompatConversation {
  toLlm(messages: readonly AgentMessage[]): LlmMessage[];
  /** One text for each message. */
  serialise(messages: readonly AgentMessage[]): string[];
  estimateTokens(message: AgentMessage): number;
}
