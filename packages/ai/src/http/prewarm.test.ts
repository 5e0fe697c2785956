import { createServer } from "node:http";
import { afterEach, expect, test } from "vitest";
import { configureTransport } from "./environment.ts";
import { prewarm } from "./exchange.ts";
import { postForEvents } from "./request.ts";
import { makeCertificate } from "./test-certificate.ts";
import { asStream, eventRequest, failureFrom, nextTurn, readAll, testServers, until } from "./test-servers.ts";

const servers = testServers();
afterEach(servers.closeAll);

async function countingServer() {
  const counts = { connections: 0, requests: 0 };
  const server = createServer((_req, res) => {
    counts.requests++;
    res.writeHead(200, asStream);
    res.end("ok");
  });
  server.on("connection", () => counts.connections++);
  const port = await servers.listen(server);
  return { url: `http://127.0.0.1:${port}`, counts, server };
}

test("a connection that was opened ahead of time is the one that the first request uses", async () => {
  const { url, counts } = await countingServer();
  prewarm(`${url}/v1`, { connect: true });
  prewarm(url, { connect: true });
  await until(() => counts.connections === 1);
  expect(counts.requests).toBe(0);
  for (let i = 0; i < 2; i++) {
    expect(await readAll(await postForEvents(eventRequest(url)))).toBe("ok");
    await nextTurn();
  }
  expect(counts).toEqual({ connections: 1, requests: 2 });
});

test("without being asked for, no connection is opened", async () => {
  const { url, counts } = await countingServer();
  prewarm(url);
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect(counts.connections).toBe(0);
});

test("a warmed connection that the server has closed meanwhile is replaced without a word", async () => {
  const { url, counts, server } = await countingServer();
  prewarm(url, { connect: true });
  await until(() => counts.connections === 1);
  server.closeAllConnections();
  expect(await readAll(await postForEvents(eventRequest(url)))).toBe("ok");
  expect(counts.requests).toBe(1);
});

test("whatever is wrong is left to the first request", async () => {
  prewarm("nonsense", { connect: true });
  prewarm("ftp://x.test", { connect: true });
  prewarm("http://127.0.0.1:1", { connect: true });
  configureTransport({ env: { HTTPS_PROXY: "socks5://x", SSL_CERT_FILE: "/does/not/exist" } });
  prewarm("https://api.test", { connect: true });
  configureTransport({ env: { SSL_CERT_FILE: "/does/not/exist" } });
  prewarm("https://127.0.0.1:1", { connect: true });
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  configureTransport({ env: {} });
  expect((await failureFrom(postForEvents(eventRequest("http://127.0.0.1:1")))).message).toMatch(/ECONNREFUSED/);
});

test("a certificate that is not trusted is told by the request that meets it", async () => {
  const port = await servers.https(makeCertificate("x", { hosts: ["127.0.0.1"] }), (_req, res) => res.end());
  const url = `https://127.0.0.1:${port}`;
  prewarm(url, { connect: true });
  for (let turn = 0; turn < 200; turn++) await nextTurn();
  expect((await failureFrom(postForEvents(eventRequest(url)))).message).toMatch(/is self-signed/);
});
