import type { EventType } from "../events.ts";
import type { ThinkingLevel } from "../model.ts";
import type { InterruptMode } from "../state.ts";

/**
 * A flavour of our own wire protocol: how the process behaves where pi, omp and xcsh cannot all be served by one
 * superset. Everything that is not in here is the same in all dialects.
 */
export type DialectName = "union" | "pi" | "omp" | "xcsh";

export interface Dialect {
  readonly name: DialectName;
  /** The first frame is `ready`. */
  readonly sendsReady: boolean;
  /** The answer to an unknown command has the `id` of the command. */
  readonly echoesIdOnUnknownCommand: boolean;
  /** An exception nobody expected is answered as `command:"parse"` without `id`. */
  readonly unexpectedExceptionAsParse: boolean;
  /** Error of a prompt that came while a run was active, without `streamingBehavior`. */
  readonly busyText: string;
  /** Events that this dialect does not send. */
  readonly omittedEvents: ReadonlySet<EventType>;
  /** `setTitle` requests are sent even without PI_RPC_EMIT_TITLE. */
  readonly sendsTitle: boolean;
  /** A dialog that is withdrawn is told by a `cancel` request. */
  readonly sendsDialogCancel: boolean;
  /** A prompt that is a command of an extension is answered when the command is done, not when it begins. */
  readonly answersCommandLate: boolean;
  /** A message of an extension that could not be sent is told by a failed response without `id`, too. */
  readonly answersFailedSends: boolean;
  /** What an unknown command-line flag leads to. */
  readonly unknownFlag: "error" | "warning";
  /** Programs that a project names are used without anybody's approval. */
  readonly trustsProjects: boolean;
  /** Folder and exported variables of a `bash` command survive until the next one. */
  readonly keepsShellState: boolean;
  /** Tools that are active at the start beside the usual ones. */
  readonly moreTools: readonly string[];
  readonly defaults: {
    readonly interruptMode: InterruptMode;
    /** Clamped to what the model supports. */
    readonly thinkingLevel: ThinkingLevel;
  };
}

export function hasEvent(dialect: Dialect, type: EventType): boolean {
  return !dialect.omittedEvents.has(type);
}
