import type { Frame } from "../../packages/coding-agent/src/client/events.ts";
import type { Transport, TransportHandlers } from "../../packages/coding-agent/src/client/transport.ts";

/** An agent without a process, for tests of the client: what it is asked is kept, what it says is up to the test. */
export class FakeAgent implements Transport {
  readonly sent: Frame[] = [];
  paused = false;
  stopped = 0;
  errors = "";
  private handlers: TransportHandlers | undefined;
  private readonly answers: (command: Frame, agent: FakeAgent) => unknown;

  /** `answers` gives `data` for a command, or an Error for a failure; undefined leaves it unanswered. */
  constructor(answers: (command: Frame, agent: FakeAgent) => unknown = () => undefined) {
    this.answers = answers;
  }

  start(handlers: TransportHandlers): void {
    this.handlers = handlers;
  }

  send(frame: object): void {
    // What is no JSON cannot be sent, as over a pipe.
    const command = JSON.parse(JSON.stringify(frame)) as Frame;
    this.sent.push(command);
    const answer = this.answers(command, this) ?? usual(command);
    if (answer === undefined) return;
    const { id, type } = command;
    const head = { id, type: "response", command: type };
    // Never within the call, as over a pipe.
    queueMicrotask(() =>
      this.say(
        answer instanceof Error
          ? { ...head, success: false, error: answer.message }
          : { ...head, success: true, data: answer },
      ),
    );
  }

  say(...frames: object[]): void {
    for (const frame of frames) this.handlers?.onFrame(frame as Frame);
  }

  noise(line: string): void {
    this.handlers?.onNoise(line);
  }

  exit(code: number | null, signal: string | null = null): void {
    this.handlers?.onExit({ code, signal });
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  stop(): Promise<void> {
    this.stopped += 1;
    return Promise.resolve();
  }

  stderr(): string {
    return this.errors;
  }

  /** The commands of that type. */
  asked(type: string): Frame[] {
    return this.sent.filter((frame) => frame.type === type);
  }
}

/** What Tiller answers to the client's questions at the start. */
function usual({ type }: Frame): unknown {
  switch (type) {
    case "get_capabilities":
      return { version: "0", dialect: "union", commands: ["set_update_mode"], events: [], limits: { maxLineBytes: 1 } };
    case "get_state":
      return { isSettled: true };
    case "set_update_mode":
    case "abort":
    case "negotiate_protocol":
    case "set_host_uri_schemes":
      return {};
    case "set_host_tools":
      return { toolNames: [] };
    default:
      return undefined;
  }
}

/** Answers of an agent that has neither capabilities nor results of prompts, as pi. */
export function likePi({ type }: Frame): unknown {
  return type === "get_capabilities" ? new Error("Unknown command: get_capabilities") : undefined;
}

export const assistant = (text: string, stopReason = "stop"): object => ({
  role: "assistant",
  content: [{ type: "text", text }],
  stopReason,
});
