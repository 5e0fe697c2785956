import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { fakeClock } from "../testing.ts";
import { configureTransport, type TransportEnvironment } from "./environment.ts";
import { postForEvents } from "./request.ts";
import { makeCertificate } from "./test-certificate.ts";
import { asStream, eventRequest, failureFrom, nextTurn, readAll, testServers, until } from "./test-servers.ts";

/** Real proxies on the loopback. The names of the servers exist only for them. */

const servers = testServers();
const authority = makeCertificate("Proxy Test Authority");
const certificate = makeCertificate("api.test", { hosts: ["api.test", "10.0.0.7", "127.0.0.1"], issuer: authority });
let folder = "";
let trust: TransportEnvironment = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tiller-proxy-"));
  const file = join(folder, "authority.pem");
  await writeFile(file, authority.cert);
  trust = { TILLER_CA_FILE: file };
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(servers.closeAll);

/** A server that only a proxy finds. */
async function secretServer() {
  const ports: (number | undefined)[] = [];
  const port = await servers.https(certificate, (req, res) => {
    ports.push(req.socket.remotePort);
    res.writeHead(200, asStream);
    res.end(`data: ${req.method} ${req.url} ${req.headers.host}\n\n`);
  });
  return { port, ports };
}

test("https goes through a tunnel, which is used again", async () => {
  const { port, ports } = await secretServer();
  const proxy = await servers.proxy();
  configureTransport({ env: { ...trust, HTTPS_PROXY: `http://me:pa%3Ass@127.0.0.1:${proxy.port}` } });
  for (let i = 0; i < 3; i++) {
    const body = await postForEvents(eventRequest(`https://api.test:${port}/v1?x=1`));
    expect(await readAll(body)).toBe(`data: POST /v1?x=1 api.test:${port}\n\n`);
    await nextTurn();
  }
  expect(proxy.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([`CONNECT api.test:${port}`]);
  expect(proxy.seen[0]?.headers).toMatchObject({
    host: `api.test:${port}`,
    "proxy-authorization": `Basic ${Buffer.from("me:pa:ss").toString("base64")}`,
  });
  expect(new Set(ports).size).toBe(1);
});

test("an address instead of a name goes through the tunnel too", async () => {
  const { port } = await secretServer();
  const proxy = await servers.proxy();
  configureTransport({ env: { ...trust, ALL_PROXY: `127.0.0.1:${proxy.port}` } });
  const body = await postForEvents(eventRequest(`https://10.0.0.7:${port}/`));
  expect(await readAll(body)).toBe(`data: POST / 10.0.0.7:${port}\n\n`);
});

test("a tunnel that has died meanwhile is replaced without a word", async () => {
  let requests = 0;
  const port = await servers.https(certificate, (req, res) => {
    requests++;
    if (requests === 2) {
      req.socket.destroy();
      return;
    }
    res.writeHead(200, asStream);
    res.end("ok");
  });
  const proxy = await servers.proxy();
  configureTransport({ env: { ...trust, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } });
  for (let i = 0; i < 2; i++) {
    expect(await readAll(await postForEvents(eventRequest(`https://api.test:${port}`)))).toBe("ok");
    await nextTurn();
  }
  expect(requests).toBe(3);
  expect(proxy.seen.length).toBe(2);
});

test("http is asked for by its whole address, without what follows a #", async () => {
  const proxy = await servers.proxy();
  configureTransport({ env: { http_proxy: `http://u:p@127.0.0.1:${proxy.port}` } });
  for (let i = 0; i < 2; i++) {
    const body = await postForEvents(eventRequest("http://api.test:8080/v1?x=1#part"));
    expect(await readAll(body)).toBe("data: forwarded POST http://api.test:8080/v1?x=1 for api.test:8080\n\n");
    await nextTurn();
  }
  expect(proxy.seen[0]?.headers["proxy-authorization"]).toBe(`Basic ${Buffer.from("u:p").toString("base64")}`);
  expect(proxy.seen[1]?.socket.remotePort).toBe(proxy.seen[0]?.socket.remotePort);
});

test("a proxy is told the host of the address, whatever the headers call it", async () => {
  const proxy = await servers.proxy();
  configureTransport({ env: { http_proxy: `http://127.0.0.1:${proxy.port}` } });
  const body = await postForEvents(eventRequest("http://api.test/v1", { headers: { Host: "other.test" } }));
  expect(await readAll(body)).toBe("data: forwarded POST http://api.test/v1 for api.test\n\n");
});

test("a proxy may itself speak TLS", async () => {
  const { port } = await secretServer();
  const proxy = await servers.proxy({ certificate });
  const address = `https://127.0.0.1:${proxy.port}`;
  configureTransport({ env: { ...trust, HTTPS_PROXY: address, HTTP_PROXY: address } });
  const tunnelled = await postForEvents(eventRequest(`https://api.test:${port}/`));
  expect(await readAll(tunnelled)).toBe(`data: POST / api.test:${port}\n\n`);
  const forwarded = await postForEvents(eventRequest("http://api.test/"));
  expect(await readAll(forwarded)).toBe("data: forwarded POST http://api.test/ for api.test\n\n");
});

test.each([
  ["407 Proxy Authentication Required", "auth", "put user:password@ before its host in HTTPS_PROXY"],
  ["403 Forbidden", "bad_request", "name the host in NO_PROXY to go there directly"],
  ["502 Bad Gateway", "network", "name the host in NO_PROXY to go there directly"],
])("a proxy that says %s is named, with a way out", async (refuse, kind, wayOut) => {
  const proxy = await servers.proxy({ refuse });
  configureTransport({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } });
  const error = await failureFrom(postForEvents(eventRequest("https://api.test/v1")));
  expect(error.kind).toBe(kind);
  expect(error.message).toContain(
    `The proxy http://127.0.0.1:${proxy.port} refused the way to api.test:443: ${refuse}`,
  );
  expect(error.message).toContain(wayOut);
});

test("a proxy that wants a password for http", async () => {
  const proxy = await servers.proxy({ refuse: "407 Proxy Authentication Required" });
  configureTransport({ env: { HTTP_PROXY: `http://me:secret@127.0.0.1:${proxy.port}` } });
  const error = await failureFrom(postForEvents(eventRequest("http://api.test/v1")));
  expect(error.kind).toBe("auth");
  expect(error.message).toMatch(
    /^The proxy http:\/\/127\..* refused the way to api\.test: 407 .*: check user and password in HTTP_PROXY$/,
  );
});

test("a proxy that is not there", async () => {
  const proxy = "http://me:secret@127.0.0.1:1";
  configureTransport({ env: { HTTPS_PROXY: proxy, HTTP_PROXY: proxy } });
  for (const scheme of ["https", "http"]) {
    const error = await failureFrom(postForEvents(eventRequest(`${scheme}://api.test/`)));
    expect(error.kind).toBe("network");
    expect(error.message).toMatch(
      /^Connection error: cannot reach the proxy http:\/\/127\.0\.0\.1:1 \(.*ECONNREFUSED.*\): check HTTPS?_PROXY$/,
    );
  }
});

test("a certificate that is not trusted behind the proxy", async () => {
  const { port } = await secretServer();
  const proxy = await servers.proxy();
  configureTransport({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } });
  const error = await failureFrom(postForEvents(eventRequest(`https://api.test:${port}`)));
  expect(error.kind).toBe("bad_request");
  expect(error.message).toMatch(
    /the certificate of api\.test comes from an authority that is not trusted here through the proxy http:\/\/127/,
  );
});

test("what is exempt, and our own machine, is reached directly", async () => {
  const { port } = await secretServer();
  const proxy = await servers.proxy();
  configureTransport({ env: { ...trust, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, NO_PROXY: "api.test" } });
  const own = await postForEvents(eventRequest(`https://127.0.0.1:${port}/`));
  expect(await readAll(own)).toBe(`data: POST / 127.0.0.1:${port}\n\n`);
  expect(proxy.seen).toEqual([]);
});

test("an abort while the proxy is asked, and while TLS is agreed behind it, closes everything", async () => {
  const silent = await servers.proxy({ silent: true });
  const open = await servers.proxy();
  // A server that takes the connection and says nothing.
  const mute = await servers.listen(createServer((socket) => socket.resume()));
  for (const proxy of [silent, open]) {
    configureTransport({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } });
    const controller = new AbortController();
    const request = eventRequest(`https://api.test:${mute}`, { signal: controller.signal });
    const failure = failureFrom(postForEvents(request));
    await until(() => proxy.seen.length === 1);
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    controller.abort();
    expect(await failure).toMatchObject({ kind: "aborted" });
    await until(() => proxy.seen[0]?.socket.destroyed === true);
  }
});

test("a proxy that says nothing runs into the time-out for connections", async () => {
  const clock = fakeClock();
  const proxy = await servers.proxy({ silent: true });
  configureTransport({ env: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` } });
  const request = eventRequest("https://api.test/", { clock, timeouts: { connectMs: 2000 } });
  const failure = failureFrom(postForEvents(request));
  await until(() => proxy.seen.length === 1);
  clock.advance(2000);
  expect(await failure).toMatchObject({ kind: "network" });
  expect((await failure).message).toBe("Timed out: waited 2 s for a connection from api.test");
  await until(() => proxy.seen[0]?.socket.destroyed === true);
});

test("a proxy of a kind that is not supported is an error, not a detour", async () => {
  configureTransport({ env: { ALL_PROXY: "socks5://127.0.0.1:1080" } });
  const error = await failureFrom(postForEvents(eventRequest("https://api.test/")));
  expect(error).toMatchObject({ kind: "bad_request", retryable: false });
  expect(error.message).toContain("ALL_PROXY names a socks5:// proxy");
});
