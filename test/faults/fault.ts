import type { Reply, ReplyStep } from "../support/mock-llm.ts";
import type { StdoutCheckOptions } from "../support/stdout-check.ts";
import type { Stage } from "./stage.ts";
import type { State } from "./states.ts";

/** What can go wrong around a process, as rows of a table. */

export interface Fault {
  group: "provider" | "disk" | "host" | "process" | "extension";
  name: string;
  /** What is done, for the page. */
  says: string;
  /** Of a provider: the answer that it gives, after what it had begun to say. */
  broken?(begun: ReplyStep[]): Reply;
  overTls?: boolean;
  args?: string[];
  env?(props: string): Record<string, string>;
  /** Another program to start, which starts the real one. */
  cli?(props: string): string;
  check?: StdoutCheckOptions;
  /** Before anything is said to the process. */
  prepare?(stage: Stage): void;
  /** It happens, in the state. */
  strike?(stage: Stage, state: State): Promise<void> | void;
  /** What the host does afterwards, instead of its part in the state. */
  instead?(stage: Stage, state: State): Promise<void> | void;
  /**
   * Whether it shows that the process was hit: a fault that misses would let every story end well. Asked when the prompt has its
   * result; what shows only while it lasts is noted by `strike`, see `wasSeen`.
   */
  felt?(stage: Stage, state: State): boolean;
  /** The same, where only the next prompt shows it. */
  feltWithNext?(stage: Stage, state: State): boolean;
  /** It is over: called when the prompt has its result, or with what cannot go on, before the file is looked at. */
  lift?(stage: Stage): Promise<void> | void;
  /** Takes away what `prepare` has put there. */
  clear?(stage: Stage): void;
  /** The most memory that the process may have had, in MB, if this is another number than usual. */
  memoryMb?: number;
  /** What becomes of the process. */
  after: After | ((state: State) => After);
  /** Why it makes no sense in this state. */
  leftOut?(state: State): string | undefined;
}

export const wasSeen: Fault["felt"] = (stage) => stage.wasSeen === true;

/** It lives, it ends by itself with this exit code, or it was killed. */
export type After = "lives" | { exit: number } | "killed";

export const afterOf = ({ after }: Fault, state: State): After => (typeof after === "function" ? after(state) : after);
