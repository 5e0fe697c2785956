import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Server, type Socket } from "node:net";
import { ProviderError } from "../errors.ts";
import { fakeClock } from "../testing.ts";
import type { HttpBody } from "./body.ts";
import { configureTransport } from "./environment.ts";
import type { EventStreamRequest } from "./request.ts";
import type { TestCertificate } from "./test-certificate.ts";

/** Servers on the loopback for the tests of the transport. */

export const asStream = { "content-type": "text/event-stream" };

/** Everything a test has started; `closeAll` belongs into `afterEach`. */
export function testServers() {
  const closings: (() => Promise<void>)[] = [];

  async function listen(server: Server): Promise<number> {
    const sockets = new Set<Socket>();
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    });
    closings.push(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  }

  return {
    listen,
    /** Gives the address. */
    http: async (listener: RequestListener) => `http://127.0.0.1:${await listen(createServer(listener))}`,
    /** Gives the port. */
    https: (certificate: TestCertificate, listener: RequestListener) =>
      listen(createSecureServer(certificate, listener)),
    /** A proxy for CONNECT and for whole addresses. Every name leads to the loopback. */
    async proxy(options: ProxyOptions = {}): Promise<TestProxy> {
      const seen: IncomingMessage[] = [];
      const server = options.certificate ? createSecureServer(options.certificate) : createServer();
      server.on("request", (req: IncomingMessage, res: ServerResponse) => {
        seen.push(req);
        forward(req, res, options);
      });
      server.on("connect", (req: IncomingMessage, socket: Socket, head: Buffer) => {
        seen.push(req);
        tunnel(req, socket, head, options);
      });
      return { port: await listen(server), seen };
    },
    async closeAll(): Promise<void> {
      configureTransport({ env: {} });
      for (const close of closings.splice(0)) await close();
    },
  };
}

export interface ProxyOptions {
  certificate?: TestCertificate;
  /** Answers everything with this line, such as `407 Proxy Authentication Required`. */
  refuse?: string;
  /** Takes the request and says nothing. */
  silent?: boolean;
}

export interface TestProxy {
  port: number;
  /** What it was asked, in order. */
  seen: IncomingMessage[];
}

function tunnel(req: IncomingMessage, socket: Socket, head: Buffer, { refuse, silent }: ProxyOptions): void {
  socket.on("error", () => socket.destroy());
  if (silent) {
    socket.on("end", () => socket.destroy()).resume();
    return;
  }
  if (refuse) {
    socket.end(`HTTP/1.1 ${refuse}\r\ncontent-length: 0\r\n\r\n`);
    return;
  }
  const upstream = connect(Number(req.url?.split(":").at(-1)), "127.0.0.1", () => {
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) upstream.write(head);
    upstream.pipe(socket).pipe(upstream);
  });
  upstream.on("error", () => socket.destroy());
  socket.on("close", () => upstream.destroy());
}

function forward(req: IncomingMessage, res: ServerResponse, { refuse }: ProxyOptions): void {
  if (refuse) {
    res.writeHead(Number(refuse.slice(0, 3)), refuse.slice(4), { "content-length": 0 });
    res.end();
    return;
  }
  res.writeHead(200, asStream);
  res.end(`data: forwarded ${req.method} ${req.url} for ${req.headers.host}\n\n`);
}

export function eventRequest(url: string, fields: Partial<EventStreamRequest> = {}): EventStreamRequest {
  return { url, headers: {}, body: ["{}"], clock: fakeClock(), signal: new AbortController().signal, ...fields };
}

export async function failureFrom(promise: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${String(error)}`);
  return error;
}

export async function readAll(body: HttpBody): Promise<string> {
  let text = "";
  for (let piece = await body.next(); piece; piece = await body.next()) text += piece.toString();
  return text;
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets sockets work until something has happened. */
export async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await nextTurn();
}
