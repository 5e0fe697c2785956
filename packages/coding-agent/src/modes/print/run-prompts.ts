import type { Clock } from "@tiller/protocol/clock";
import type { AgentMessage } from "@tiller/protocol/message";
import { sleepAwake } from "../../lib/clock.ts";
import { log } from "../../lib/log.ts";
import type { AgentSession } from "../../session/agent-session.ts";
import type { PromptResult } from "../../session/session-event.ts";
import { createFrameWriter, type FrameWriter, openStdout } from "../rpc/frame-writer.ts";
import { NO_UI } from "./no-ui.ts";
import { type Prompt, type PromptParts, promptsOf } from "./prompts.ts";
import { readStdinText } from "./stdin-text.ts";

export interface PromptsInputs {
  session: AgentSession;
  clock: Clock;
  /** Longest text that is taken from stdin. */
  maxLineBytes: number;
  messages: PromptParts["messages"];
  files: PromptParts["files"];
}

/** How one prompt ended; without a result it was refused, or done without the model. */
export interface PromptEnding {
  result?: PromptResult;
  /** The model has said something: to the prompt, or because an extension has asked it on account of the prompt. */
  isAnswered?: boolean;
  /** Why it failed, for people. */
  problem?: string;
}

/** What the modes make of it. Nothing but the writer may touch stdout. */
export interface PromptsOutput {
  mode: "print" | "json";
  begin?(writer: FrameWriter): void;
  /** Each prompt that ends. */
  ended?(ending: PromptEnding): void;
  /** All prompts have ended; not when the process is told to go. */
  finished?(last: PromptEnding, writer: FrameWriter): void;
}

/** How long closing may take when somebody wants us to go. */
const CLOSING_MS = 800;

const EXTENSION = "Request was aborted: an extension ended the process";

const NO_PROMPT =
  'Error: there is nothing to ask: name a message, as in tiller -p "Summarize this repo", an @file, or pipe text to stdin';

/** Runs all prompts in their order on one session and ends it. Resolves to the exit code. */
export function runPrompts(inputs: PromptsInputs, output: PromptsOutput): Promise<number> {
  const { session, clock } = inputs;
  return new Promise((resolve) => {
    // With stdin at its end nothing else may keep the process: it must not end as if all had gone well.
    const letGo = clock.after(Number.MAX_SAFE_INTEGER, () => undefined);
    const exit = (code: number): void => {
      letGo();
      resolve(code);
    };
    const close = async (reason: string): Promise<void> => {
      await session.dispose(reason);
      await writer.flushed();
    };
    let leaving = false;
    /** The second call does not wait for the first. */
    const leave = async (code: number, reason: string): Promise<void> => {
      const isSecond = leaving;
      leaving = true;
      if (!isSecond) await Promise.race([close(reason), sleepAwake(clock, CLOSING_MS)]);
      exit(code);
    };
    const writer = createFrameWriter(openStdout(), (error: NodeJS.ErrnoException) => {
      // Who reads no more, as `head` does, has what they wanted.
      if (error.code !== "EPIPE") log(`stdout cannot be written: ${error.message}`);
      void leave(error.code === "EPIPE" ? 0 : 1, "Request was aborted: stdout was closed");
    });
    onSignals(session, leave);
    const begin = (): void => {
      output.begin?.(writer);
      // The process ends by itself when all prompts are done.
      session.extensions?.begin({
        ui: NO_UI,
        mode: output.mode,
        shutdown: (code) => code !== undefined && void leave(code, EXTENSION),
      });
    };

    const work = async (): Promise<number | undefined> => {
      // Nothing is told of a session in which nothing is asked; whether that is so may be known only at the end of stdin.
      const isSure = promptsOf({ ...inputs, piped: "" }).length > 0;
      if (isSure) begin();
      const prompts = await gather(inputs);
      if ("problem" in prompts) {
        log(prompts.problem, "");
        return 2;
      }
      if (leaving) return undefined;
      if (!isSure) begin();
      let last: PromptEnding = {};
      for (const prompt of prompts) {
        last = await runPrompt(session, prompt);
        if (leaving) return undefined;
        if (last.problem !== undefined) log(`Error: ${last.problem}`, "");
        output.ended?.(last);
      }
      output.finished?.(last, writer);
      return last.problem === undefined ? 0 : 1;
    };
    void work().then(async (code) => {
      if (code === undefined) return;
      // A reader may take its time over the answer: nobody is in a hurry here.
      await close("Request was aborted: the process ends");
      if (!leaving) exit(code);
    });
  });
}

async function gather({
  clock,
  maxLineBytes,
  messages,
  files,
}: PromptsInputs): Promise<Prompt[] | { problem: string }> {
  const onWaiting = (): void =>
    log("waiting for the end of stdin; start with `< /dev/null` when nothing comes from there");
  const piped = await readStdinText({ clock, maxBytes: maxLineBytes, onWaiting });
  if ("problem" in piped) return { problem: `Error: ${piped.problem}` };
  const prompts = promptsOf({ piped: piped.text, files, messages });
  return prompts.length === 0 ? { problem: NO_PROMPT } : prompts;
}

async function runPrompt(session: AgentSession, prompt: Prompt): Promise<PromptEnding> {
  const admission = await session.admit(prompt);
  if ("refused" in admission) return { problem: admission.refused };
  let result: PromptResult | undefined;
  let last: AgentMessage | undefined;
  const stop = session.subscribe((event) => {
    if (event.type === "prompt_result") result = event;
    if (event.type === "agent_end") last = event.messages.at(-1);
    return undefined;
  });
  try {
    if ("job" in admission) await admission.job?.();
    await session.waitForIdle();
  } catch (error) {
    // Its result tells it as well, and better.
    if (!result) return { problem: error instanceof Error ? error.message : String(error) };
  } finally {
    stop();
  }
  const isAnswered = last !== undefined;
  const failed = result !== undefined && result.status !== "completed";
  if (failed) return { result, isAnswered, problem: result?.error?.message ?? `the prompt was ${result?.status}` };
  // A run that an extension has started has no result of its own.
  const problem = last && failureIn(last);
  return problem === undefined ? { result, isAnswered } : { result, isAnswered, problem };
}

function failureIn(message: AgentMessage): string | undefined {
  if (message.role !== "assistant") return undefined;
  const { stopReason, errorMessage } = message;
  return stopReason === "error" || stopReason === "aborted" ? (errorMessage ?? "the run failed") : undefined;
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

function onSignals(session: AgentSession, leave: (code: number, reason: string) => Promise<void>): void {
  for (const [name, code] of Object.entries(SIGNALS)) {
    process.on(name, () => void leave(code, `Request was aborted: ${name}`));
  }
  const onBug = (error: unknown, event: "unhandled_rejection" | "uncaught_exception"): void => {
    if (session.extensions?.takeError(error, event)) return;
    log(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    void leave(1, "Request was aborted: internal error, see stderr");
  };
  process.on("uncaughtException", (error) => onBug(error, "uncaught_exception"));
  process.on("unhandledRejection", (error) => onBug(error, "unhandled_rejection"));
}
