import type { AgentExit } from "./transport.ts";

/** Why the client could not do what it was asked for. */
export type ClientErrorCode =
  /** The agent answered `success:false`. */
  | "command_failed"
  /** The agent did not answer in time. */
  | "timeout"
  /** The process could not be started, or ended by itself. */
  | "exited"
  /** What the agent wrote cannot be understood, and nothing after it can be trusted. */
  | "protocol"
  /** There is no process: not yet, or not any more. */
  | "not_running";

export interface ClientErrorDetails {
  /** The command that was asked for. */
  command?: string;
  /** The end of what the agent has written to stderr. */
  stderr?: string;
  exitCode?: number | null;
  signal?: string | null;
}

export class ClientError extends Error {
  override readonly name: string = "ClientError";
  readonly code: ClientErrorCode;
  readonly command: string | undefined;
  readonly stderr: string | undefined;
  readonly exitCode: number | null | undefined;
  readonly signal: string | null | undefined;

  constructor(code: ClientErrorCode, message: string, details: ClientErrorDetails = {}) {
    super(message);
    this.code = code;
    this.command = details.command;
    this.stderr = details.stderr;
    this.exitCode = details.exitCode;
    this.signal = details.signal;
  }
}

/** For the end of a message; empty when nothing was written. */
export function stderrNote(stderr: string): string {
  return stderr.trim() === "" ? "" : ` Stderr: ${stderr.trim()}`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Of an agent that is gone; `noise` is what it has printed that was no frame. */
export function exitError(
  exit: AgentExit,
  wasStarting: boolean,
  stderr: string,
  noise: readonly string[],
): ClientError {
  const details = { stderr, exitCode: exit.code, signal: exit.signal };
  if (exit.error instanceof ClientError) return new ClientError(exit.error.code, exit.error.message, details);
  if (exit.error) return new ClientError("exited", `The agent could not be started: ${exit.error.message}`, details);
  const when = wasStarting ? " before it was ready" : "";
  const how = exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
  const said = stderrNote(stderr) || (noise.length > 0 ? ` Stdout: ${noise.slice(-3).join("\n")}` : "");
  return new ClientError("exited", `Agent process ${how}${when}.${said}`, details);
}
