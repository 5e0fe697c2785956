import { fstatSync } from "node:fs";
import type { Readable } from "node:stream";
import { isatty } from "node:tty";
import type { Clock } from "@tiller/protocol/clock";
import { openStdin } from "../rpc/stdin.ts";

export interface StdinOptions {
  clock: Clock;
  maxBytes: number;
  /** Nothing has come for a while, and it is not closed either. */
  onWaiting(): void;
}

/** After this time of silence a person is told what the process waits for. */
const PATIENCE_MS = 3000;

/** All of what is piped in. Nothing from a terminal: a person would not know that they are waited for. */
export async function readStdinText(options: StdinOptions): Promise<{ text: string } | { problem: string }> {
  return isPiped() ? readText(openStdin(), options) : { text: "" };
}

function isPiped(): boolean {
  try {
    fstatSync(0);
    return !isatty(0);
  } catch {
    // Closed by whoever started us.
    return false;
  }
}

export function readText(
  input: Readable,
  { clock, maxBytes, onWaiting }: StdinOptions,
): Promise<{ text: string } | { problem: string }> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stopWaiting = clock.after(PATIENCE_MS, onWaiting);
    const done = (result: { text: string } | { problem: string }): void => {
      stopWaiting();
      resolve(result);
    };
    input.on("data", (chunk: Buffer) => {
      stopWaiting();
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= maxBytes) return;
      input.destroy();
      done({ problem: `stdin has more than ${maxBytes} bytes; --set input.maxLineBytes=N allows more` });
    });
    input.on("end", () => done({ text: new TextDecoder().decode(Buffer.concat(chunks)) }));
    input.on("error", (error) => done({ problem: `stdin cannot be read: ${error.message}` }));
  });
}
