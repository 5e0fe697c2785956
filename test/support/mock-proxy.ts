import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

/**
 * A proxy on loopback for whole addresses and for tunnels. Whatever name it is asked for, it leads to the one server
 * behind it, so that tests can use names that do not exist.
 */

export interface MockProxy {
  /** For `http_proxy`. */
  url: string;
  host: string;
  /** What it was asked, in order: `POST http://...` or `CONNECT host:port`. */
  seen: string[];
  /** The `proxy-authorization` of each. */
  authorizations: (string | undefined)[];
  close(): Promise<void>;
}

export interface MockProxyOptions {
  /** Address of the server behind it, for example of a mock model. */
  leadsTo: string;
  /** Lets through only who says this. */
  authorization?: string;
}

export async function startMockProxy({ leadsTo, authorization }: MockProxyOptions): Promise<MockProxy> {
  const target = new URL(leadsTo);
  const sockets = new Set<Socket>();
  const seen: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const note = (asked: IncomingMessage): boolean => {
    seen.push(`${asked.method} ${asked.url}`);
    authorizations.push(asked.headers["proxy-authorization"]);
    return authorization === undefined || asked.headers["proxy-authorization"] === authorization;
  };
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on("error", () => socket.destroy()).on("close", () => sockets.delete(socket));
  };
  const server = createServer((asked, answer) => {
    if (note(asked)) forward(asked, answer, target);
    else answer.writeHead(407, "Proxy Authentication Required").end();
  });
  server.on("connection", keep);
  server.on("connect", (asked: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!note(asked)) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    const upstream = keep(connect(Number(target.port), target.hostname));
    upstream.once("connect", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    host,
    seen,
    authorizations,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The answer flows through as it comes. */
function forward(asked: IncomingMessage, answer: ServerResponse, { hostname, port }: URL): void {
  const { pathname, search } = new URL(asked.url ?? "", "http://proxy");
  const { method } = asked;
  // What is said to the proxy is for the proxy.
  const { "proxy-authorization": _, ...headers } = asked.headers;
  const onward = request({ hostname, port, method, headers, path: pathname + search, agent: false }, (given) => {
    answer.writeHead(given.statusCode ?? 502, given.headers);
    given.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  asked.pipe(onward);
}
