import type { Readable, Writable } from "node:stream";
import type { ClientOptions } from "../client/client-options.ts";
import type { Dialog, DialogAnswer } from "../client/host-side.ts";
import { RpcClient } from "../client/rpc-client.ts";
import { createLineSplitter } from "../lib/jsonl.ts";
import { chatCommand, modelName } from "./commands.ts";
import { answerOf, questionLines } from "./dialogs.ts";
import { createKeyReader, createLineEditor, type Key } from "./line-editor.ts";
import { render, renderEnd } from "./render.ts";
import { createScreen } from "./screen.ts";
import { createStyle, harmless } from "./style.ts";

/** `tiller chat`: a person at a terminal, or lines from a pipe, and an agent behind the client that every host can use. */

export interface ChatInputs {
  agent: ClientOptions;
  input: Readable & { isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
  output: Writable;
  /** A person is at both ends: keys come one by one, and the line that is written can be shown. */
  isTerminal: boolean;
  hasColours: boolean;
  /** The first prompt; empty for none. */
  first: string;
  version: string;
  /** Calls back for SIGINT, until it is told to stop. */
  onInterrupt(listener: () => void): () => void;
}

const PASTE_MARKS = { on: "\u001b[?2004h", off: "\u001b[?2004l" };
const MAX_LINE = 16 * 1024 * 1024;

interface Question {
  dialog: Dialog;
  settle(answer: DialogAnswer): void;
}

/** Resolves to the exit code. */
export function runChat(inputs: ChatInputs): Promise<number> {
  return new Promise((resolve) => new Chat(inputs, resolve).begin());
}

class Chat {
  private readonly inputs: ChatInputs;
  private readonly resolve: (code: number) => void;
  private readonly client: RpcClient;
  private readonly style;
  private readonly screen;
  private readonly editor = createLineEditor();
  private readonly questions: Question[] = [];
  /** Lines that wait: from a pipe, one follows the end of the other. */
  private readonly waiting: string[] = [];
  private prompts = 0;
  /** For the line, once the run has ended. */
  private takenBack = "";
  private jobs = 0;
  private isReady = false;
  private isOver = false;
  private wasWarned = false;
  private hasLeft = false;
  private stopListening: () => void = () => undefined;

  constructor(inputs: ChatInputs, resolve: (code: number) => void) {
    this.inputs = inputs;
    this.resolve = resolve;
    this.style = createStyle(inputs.hasColours);
    this.screen = createScreen({
      write: (text) => void inputs.output.write(text),
      mark: this.style.green("> "),
      isTerminal: inputs.isTerminal,
    });
    this.client = new RpcClient({ ...inputs.agent, onDialog: (dialog, { signal }) => this.ask(dialog, signal) });
  }

  begin(): void {
    const { client } = this;
    client.onEvent((event) => {
      const { flow, lines } = render(event, this.style);
      if (flow !== undefined) this.screen.flow(flow);
      if (lines !== undefined) this.screen.lines(lines);
      if (event.type === "extension_ui_request" && event.method === "set_editor_text") {
        this.editor.set(harmless(event.text));
        this.refresh();
      }
    });
    client.onExit((error) => void this.leave(error.exitCode === 130 ? 130 : 1, error.message));
    this.stopListening = this.inputs.onInterrupt(() => this.interrupt());
    this.listen();
    client
      .start()
      .then(() => this.greet())
      .catch((error: Error) => this.leave(1, error.message));
  }

  private async greet(): Promise<void> {
    const { model, sessionFile } = await this.client.getState();
    const session = sessionFile === undefined ? ", not kept" : "";
    const text = `Tiller ${this.inputs.version}, ${modelName(model)}${session}. /help lists the commands, /quit leaves.`;
    this.screen.lines([this.style.dim(text)]);
    this.isReady = true;
    if (this.inputs.first !== "") this.handle(this.inputs.first);
    this.pump();
  }

  private listen(): void {
    const { input, output, isTerminal } = this.inputs;
    // Nobody reads any more, as behind `| head`.
    output.on("error", () => void this.leave(1));
    if (isTerminal) {
      input.setRawMode?.(true);
      output.write(PASTE_MARKS.on);
      const keys = createKeyReader();
      input.setEncoding("utf8").on("data", (data: string) => {
        for (const key of keys(data)) this.press(key);
      });
    } else {
      const lines = createLineSplitter({
        maxBytes: MAX_LINE,
        onLine: (line) => this.take(line),
        onTooLong: () => this.screen.lines([this.style.red(`a line of more than ${MAX_LINE} bytes was passed over`)]),
      });
      input.on("data", (chunk: Buffer) => lines.push(chunk));
      input.on("end", () => lines.end());
    }
    input.on("end", () => this.end());
    input.on("error", () => this.end());
  }

  private press(key: Key): void {
    if (key.kind === "interrupt") this.interrupt();
    else if (key.kind !== "end") this.write(key);
    else if (this.editor.text === "") this.end();
  }

  private write(key: Key): void {
    const line = this.editor.apply(key);
    if (line === undefined) {
      this.refresh();
      return;
    }
    this.screen.edit(line);
    this.screen.sent();
    this.take(line);
  }

  private take(line: string): void {
    this.wasWarned = false;
    this.waiting.push(line);
    this.pump();
  }

  /** Gives lines to whoever wants them: a question first; a person may write while the agent works, a pipe waits. */
  private pump(): void {
    while (this.waiting.length > 0 && this.isReady) {
      const [question] = this.questions;
      if (question) this.answer(question, this.waiting.shift() ?? "");
      else if (!this.inputs.isTerminal && this.isBusy) break;
      else this.handle(this.waiting.shift() ?? "");
    }
    if (this.isOver && this.isReady && !this.isBusy && this.waiting.length === 0) void this.leave(0);
    else this.refresh();
  }

  private get isBusy(): boolean {
    return this.prompts + this.jobs > 0;
  }

  private handle(line: string): void {
    const text = line.trim();
    if (text === "") return;
    const chat = chatCommand(text);
    if (chat) void this.work(() => chat.command.run(this.client, chat.rest, this.style));
    else if (text.startsWith("!")) void this.work(() => this.shell(text.slice(1)));
    else void this.prompt(line);
  }

  private async prompt(message: string): Promise<void> {
    this.prompts += 1;
    try {
      const outcome = await this.client.run(message, { streamingBehavior: "steer" }).result;
      // Several end together when one of them has changed the course of the other.
      if (this.prompts === 1 || outcome.status === "error") this.screen.lines(renderEnd(outcome, this.style));
    } catch (error) {
      this.fail(error);
    } finally {
      this.prompts -= 1;
      // Not earlier: what is still said would wait for the line.
      if (this.prompts === 0 && this.editor.text === "") this.editor.set(this.takenBack);
      if (this.prompts === 0) this.takenBack = "";
      this.pump();
    }
  }

  private async shell(command: string): Promise<string[]> {
    const { exitCode } = await this.client.bash(command);
    return exitCode === 0 ? [] : [this.style.red(`exit code ${exitCode ?? "none"}`)];
  }

  private async work(run: () => Promise<string[] | "quit">): Promise<void> {
    this.jobs += 1;
    let isLast = false;
    try {
      const said = await run();
      isLast = said === "quit";
      if (said !== "quit") this.screen.lines(said);
    } catch (error) {
      this.fail(error);
    } finally {
      this.jobs -= 1;
      if (isLast) void this.leave(0);
      else this.pump();
    }
  }

  private fail(error: unknown): void {
    if (!this.hasLeft)
      this.screen.lines([this.style.red(`error: ${harmless(error instanceof Error ? error.message : String(error))}`)]);
  }

  private ask(dialog: Dialog, signal: AbortSignal): Promise<DialogAnswer> {
    return new Promise((resolve) => {
      const withdrawn = (): void => {
        this.screen.lines([this.style.dim("(no longer asked)")]);
        question.settle(undefined);
      };
      const question: Question = {
        dialog,
        settle: (answer) => {
          signal.removeEventListener("abort", withdrawn);
          const at = this.questions.indexOf(question);
          if (at !== -1) this.questions.splice(at, 1);
          resolve(answer);
          if (at === 0) this.show(this.questions[0]);
          this.pump();
        },
      };
      signal.addEventListener("abort", withdrawn);
      this.questions.push(question);
      if (this.questions.length === 1) this.show(question);
      if (this.isOver && this.waiting.length === 0) question.settle(undefined);
      else this.pump();
    });
  }

  private show(question: Question | undefined): void {
    if (question) this.screen.lines(questionLines(question.dialog, this.style));
  }

  private answer(question: Question, line: string): void {
    const said = answerOf(question.dialog, line);
    if (said === "again") this.show(question);
    else question.settle(said.answer);
  }

  /** Ends what is nearest: a question, the line, the run, the chat. */
  private interrupt(): void {
    const [question] = this.questions;
    if (question) question.settle(undefined);
    else if (this.editor.text !== "") {
      this.editor.set("");
      this.refresh();
    } else if (this.wasWarned) void this.leave(130);
    else this.warn();
  }

  private warn(): void {
    this.wasWarned = true;
    this.screen.lines([this.style.dim("(Ctrl-C again to leave)")]);
    if (this.prompts > 0) {
      void this.takeBack();
      this.client.abort().catch((error: unknown) => this.fail(error));
    }
    if (this.jobs > 0) this.client.abortBash().catch((error: unknown) => this.fail(error));
  }

  /** What waits to change the course of a run that is given up goes back into the line. */
  private async takeBack(): Promise<void> {
    if (this.prompts < 2) return;
    try {
      const { steering, followUp } = await this.client.clearQueue();
      this.takenBack = harmless([...steering, ...followUp].join("\n"));
    } catch (error) {
      this.fail(error);
    }
  }

  private end(): void {
    this.isOver = true;
    // Nobody is left to answer.
    for (const question of [...this.questions]) question.settle(undefined);
    if (this.inputs.isTerminal) void this.leave(0);
    else this.pump();
  }

  private refresh(): void {
    if (this.hasLeft) return;
    const canWrite = !this.isBusy || this.questions.length > 0 || this.editor.text !== "";
    this.screen.edit(this.isReady && canWrite ? this.editor.text : undefined);
  }

  private async leave(code: number, why?: string): Promise<void> {
    if (this.hasLeft) return;
    this.hasLeft = true;
    const { input, output, isTerminal } = this.inputs;
    this.screen.edit(undefined);
    if (why !== undefined) this.screen.lines([this.style.red(harmless(why))]);
    this.stopListening();
    await this.client.stop();
    if (isTerminal) {
      input.setRawMode?.(false);
      output.write(PASTE_MARKS.off);
    }
    input.destroy();
    output.write("", () => this.resolve(code));
  }
}
