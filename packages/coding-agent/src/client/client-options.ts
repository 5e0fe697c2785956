import type { AgentCommandOptions } from "./agent-command.ts";
import type { After } from "./call.ts";
import type { AskPerson, HostTool, HostUris } from "./host-side.ts";
import type { Resumed } from "./missed-events.ts";
import type { Transport } from "./transport.ts";

export interface ClientOptions extends AgentCommandOptions {
  cwd?: string;
  /** Over the environment of this process; undefined takes a variable away. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Tools of the host, for the model to call. */
  tools?: readonly HostTool[];
  /** The same, under the name that other clients have for it. */
  customTools?: readonly HostTool[];
  /** Resources of the host behind URLs of its own. */
  uris?: readonly HostUris[];
  /** Answers what extensions ask; without it nobody answers, and they are told so. `"manual"`: `answerDialog` does it. */
  onDialog?: AskPerson | "manual";
  /** `delta` (as far as the agent knows it): only what is new is sent, and the client makes the message of it. */
  updates?: "delta" | "snapshot";
  /** How long the agent may take until it can be used. */
  startTimeoutMs?: number;
  /** How long it may take to answer a command, unless the call says otherwise; 0 for as long as it likes. */
  requestTimeoutMs?: number;
  /** How long it has for its end before it is killed. */
  terminationGraceMs?: number;
  /** So many events wait for a loop before the agent is slowed down. */
  maxQueuedEvents?: number;
  /** How often an agent that ended by itself is started again, with its session, by the next command. */
  restarts?: number;
  /**
   * When another process goes on with the session, listeners hear the events that the one before could not tell any more.
   * A function is told how many follow, and whether some are lost.
   */
  resume?: boolean | ((resumed: Resumed) => void);
  /** Instead of a process: for tests, or for another way to an agent. */
  transport?: () => Transport;
  after?: After;
}
