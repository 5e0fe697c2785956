import type { Socket } from "node:net";
import { type AnswerHead, type AnswerReader, createAnswerReader } from "./answer-reader.ts";
import type { BodyListener, BodySource } from "./body-source.ts";
import { type Payload, writePayload } from "./payload.ts";

/**
 * A connection that carries one request at a time. Node's own client does the same with a stream for each request and one for
 * each answer, which takes longer than everything else that a short prompt needs, and twice the time to load.
 */
export interface Connection {
  /** It has carried a request before: it may have died of age since. */
  readonly isOld: boolean;
  /** Calls when it has come about, TLS included; at once when it has. */
  whenMade(then: () => void): void;
  /** `head` is all before the body. Nothing may be under way. */
  send(head: string, payload: Payload, listener: AnswerListener): void;
  destroy(): void;
}

export interface AnswerListener {
  /** Listens to the body at once. */
  answer(head: AnswerHead, body: BodySource): void;
  /** There will be no answer. */
  failed(error: NodeJS.ErrnoException): void;
}

export interface ConnectionOptions {
  /** It has come about already. */
  isMade?: boolean;
  /** It may carry the next request. `keepMs`: how long the server says that it will wait for that. */
  onFree(connection: Connection, keepMs: number | undefined): void;
  onGone(connection: Connection): void;
}

interface Exchange {
  reader: AnswerReader;
  listener: AnswerListener;
  body?: BodyListener;
  head?: AnswerHead;
  isSent: boolean;
}

export function createConnection(socket: Socket, options: ConnectionOptions): Connection {
  const { onFree, onGone } = options;
  let current: Exchange | undefined;
  let isOld = false;
  let isMade = options.isMade === true;
  const madeBy = "encrypted" in socket ? "secureConnect" : "connect";
  socket.once(madeBy, () => {
    isMade = true;
  });

  const lost = (error?: Error): void => {
    const exchange = current;
    current = undefined;
    onGone(connection);
    socket.destroy();
    if (!exchange) return;
    if (exchange.body && !error && exchange.reader.close()) exchange.body.end();
    else if (exchange.body) exchange.body.lost(error);
    else exchange.listener.failed(error ?? hangUp());
  };
  const over = ({ reader, body, head, isSent }: Exchange): void => {
    current = undefined;
    isOld = true;
    if (reader.keepsAlive && reader.behind === undefined && isSent && !socket.destroyed) {
      socket.resume();
      socket.unref();
      onFree(connection, keepMsIn(head));
    } else socket.destroy();
    body?.end();
  };
  socket.on("data", (bytes: Buffer) => {
    // Nobody has asked.
    if (!current) {
      lost();
      return;
    }
    const exchange = current;
    try {
      exchange.reader.push(bytes);
    } catch (error) {
      lost(error as Error);
      return;
    }
    if (current === exchange && exchange.reader.isOver) over(exchange);
  });
  socket.on("error", lost);
  // While it is being made there is an error to come that says more.
  socket.on("end", () => void (isMade && lost()));
  socket.on("close", () => lost());

  const begin = (exchange: Exchange, head: AnswerHead): void => {
    exchange.head = head;
    exchange.listener.answer(head, bodyOf(exchange));
  };
  const bodyOf = (exchange: Exchange): BodySource => ({
    listen(listener) {
      exchange.body = listener;
    },
    pause: () => void (current === exchange && socket.pause()),
    resume: () => void (current === exchange && socket.resume()),
    // When all of it has come the connection is somebody else's.
    destroy: () => void (current === exchange && connection.destroy()),
  });
  const connection: Connection = {
    get isOld() {
      return isOld;
    },
    whenMade(then) {
      if (isMade) then();
      else socket.once(madeBy, then);
    },
    send(head, payload, listener) {
      const reader = createAnswerReader({
        head: (found) => begin(exchange, found),
        piece: (bytes) => exchange.body?.piece(bytes),
      });
      const exchange: Exchange = { reader, listener, isSent: false };
      current = exchange;
      if (isOld) socket.ref();
      // Not a byte before it is known who listens.
      connection.whenMade(() => {
        if (current !== exchange) return;
        writePayload(socket, head, payload, () => {
          exchange.isSent = true;
        });
      });
    },
    destroy() {
      current = undefined;
      socket.destroy();
    },
  };
  return connection;
}

/** As Node says it when a server closes the connection instead of answering. */
function hangUp(): NodeJS.ErrnoException {
  return Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
}

function keepMsIn(head: AnswerHead | undefined): number | undefined {
  const seconds = /\btimeout=(\d{1,6})\b/i.exec(head?.headers["keep-alive"] ?? "")?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
