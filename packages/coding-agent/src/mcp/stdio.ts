import { StringDecoder } from "node:string_decoder";
import { cutWords } from "@tiller/ai/cut-words";
import { cleanText } from "../exec/clean-text.ts";
import { startLasting } from "../exec/run-process.ts";
import { createLineSplitter } from "../lib/jsonl.ts";
import { parseMessage } from "./json-rpc.ts";
import { LONGEST_MESSAGE, type Transport, type TransportEvents } from "./transport.ts";

/** A server that is a child of ours: one message a line, on its stdin and stdout. */

export interface Launch {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** How much of what a server says beside the protocol is shown when it fails. */
const TAIL_CHARACTERS = 2000;
const TAIL_LINES = 10;
const STRANGE_CHARACTERS = 200;

export function openStdio({ command, args, cwd, env }: Launch, events: TransportEvents): Transport {
  const { clock, onMessage, onEnd } = events;
  const decoder = new StringDecoder("utf8");
  let stderr = "";
  /** The last line on stdout that was no message. */
  let strange = "";
  let isOver = false;
  const end = (why: string): void => {
    if (isOver) return;
    isOver = true;
    onEnd(new Error(`${why}${said()}`));
    child.end();
  };
  const said = (): string => {
    const tail = cleanText(stderr.toWellFormed()).trim().split("\n").slice(-TAIL_LINES).join("\n");
    const line = strange === "" ? "" : `. A line on its stdout was no message of the protocol: ${cleanText(strange)}`;
    stderr = strange = "";
    return events.hide(`${line}${tail === "" ? "" : `. On stderr it said:\n${tail}`}`);
  };
  const splitter = createLineSplitter({
    maxBytes: LONGEST_MESSAGE,
    onLine(line) {
      if (isOver || line.trim() === "") return;
      if (!onMessage(parseMessage(line))) strange = cutWords(line, STRANGE_CHARACTERS).toWellFormed();
    },
    onTooLong: () => end(`it sent a message of more than ${LONGEST_MESSAGE / 1024 / 1024} MB`),
  });
  const child = startLasting({
    file: command,
    args,
    cwd,
    env,
    clock,
    onOutput(chunk, source) {
      if (source === "stdout") splitter.push(chunk);
      else stderr = (stderr + decoder.write(chunk)).slice(-TAIL_CHARACTERS);
    },
  });
  child.exited.then(
    ({ exitCode, signal }) => {
      splitter.end();
      end(`it has ended (${exitCode === null ? `by ${signal}` : `exit code ${exitCode}`})`);
    },
    (error: Error) => end(error.message),
  );
  return {
    async send(message) {
      child.write(`${JSON.stringify(message)}\n`);
    },
    agreed: () => undefined,
    close() {
      isOver = true;
      child.end();
    },
    said,
  };
}
