import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { configureTransport } from "./environment.ts";
import { postForEvents } from "./request.ts";
import { makeCertificate } from "./test-certificate.ts";
import { asStream, eventRequest, failureFrom, nextTurn, readAll, testServers } from "./test-servers.ts";

const servers = testServers();
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tiller-certificates-"));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(servers.closeAll);

const authority = makeCertificate("Test Authority");
const good = makeCertificate("good", { hosts: ["localhost", "127.0.0.1"], issuer: authority });
const answers: RequestListener = (_req, res) => {
  res.writeHead(200, asStream);
  res.end("data: secret\n\n");
};

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

test.each(["SSL_CERT_FILE", "TILLER_CA_FILE"])(
  "the certificate in %s is trusted, and its connections are kept",
  async (name) => {
    const ports = new Set<number | undefined>();
    const port = await servers.https(good, (req, res) => {
      ports.add(req.socket.remotePort);
      answers(req, res);
    });
    configureTransport({ env: { [name]: await file("authority.pem", `# ours\n${authority.cert}`) } });
    for (let i = 0; i < 2; i++) {
      expect(await readAll(await postForEvents(eventRequest(`https://localhost:${port}`)))).toBe("data: secret\n\n");
      await nextTurn();
    }
    expect(ports.size).toBe(1);
  },
);

test("what was agreed on with a server is used for the next connection, also when it closes each", async () => {
  const reused: boolean[] = [];
  const port = await servers.https(good, (req, res) => {
    reused.push((req.socket as TLSSocket).isSessionReused());
    res.writeHead(200, { ...asStream, connection: "close" });
    res.end("data: secret\n\n");
  });
  configureTransport({ env: { TILLER_CA_FILE: await file("authority.pem", authority.cert) } });
  for (let i = 0; i < 3; i++) await readAll(await postForEvents(eventRequest(`https://localhost:${port}`)));
  expect(reused).toEqual([false, true, true]);
});

test.each(["http", "https"])(
  "a connection over %s is looked after, and nothing waits for more in it",
  async (scheme) => {
    const alive = vi.spyOn(Socket.prototype, "setKeepAlive");
    const delay = vi.spyOn(Socket.prototype, "setNoDelay");
    try {
      const port =
        scheme === "http" ? (await servers.http(answers)).split(":").at(-1) : await servers.https(good, answers);
      configureTransport({ env: { TILLER_CA_FILE: await file("authority.pem", authority.cert) } });
      alive.mockClear();
      delay.mockClear();
      await readAll(await postForEvents(eventRequest(`${scheme}://localhost:${port}`)));
      expect(alive).toHaveBeenCalledWith(true, 10_000);
      expect(delay).toHaveBeenCalledWith(true);
    } finally {
      alive.mockRestore();
      delay.mockRestore();
    }
  },
);

test("a server that is called by another name in the header proves that name", async () => {
  const named = makeCertificate("named", { hosts: ["models.example"], issuer: authority });
  const port = await servers.https(named, answers);
  configureTransport({ env: { TILLER_CA_FILE: await file("authority.pem", authority.cert) } });
  const ask = (host: string) => postForEvents(eventRequest(`https://127.0.0.1:${port}`, { headers: { Host: host } }));
  expect(await readAll(await ask("models.example"))).toBe("data: secret\n\n");
  expect(await readAll(await ask("models.example:8443"))).toBe("data: secret\n\n");
  expect((await failureFrom(ask("others.example"))).message).toMatch(/certificate/);
});

test.each([
  [
    "not trusted",
    good,
    /^Connection error: the certificate of 127\.0\.0\.1 comes from an authority that is not trusted here \(.+\): .*NODE_EXTRA_CA_CERTS or TILLER_CA_FILE$/,
  ],
  [
    "self-signed",
    makeCertificate("127.0.0.1", { hosts: ["127.0.0.1"] }),
    /the certificate of 127\.0\.0\.1 is self-signed/,
  ],
])("without it, a server is %s", async (_story, certificate, message) => {
  const port = await servers.https(certificate, answers);
  const error = await failureFrom(postForEvents(eventRequest(`https://127.0.0.1:${port}`)));
  expect(error).toMatchObject({ kind: "bad_request", retryable: false });
  expect(error.message).toMatch(message);
});

test.each([
  ["expired", { hosts: ["127.0.0.1"], notAfter: "210101000000Z" }, /the certificate of 127\.0\.0\.1 has expired/],
  ["for another host", { hosts: ["other.test"] }, /the certificate of 127\.0\.0\.1 is for another host/],
])("with it, a certificate can still be %s", async (_story, fields, message) => {
  const port = await servers.https(makeCertificate("bad", { ...fields, issuer: authority }), answers);
  configureTransport({ env: { TILLER_CA_FILE: await file("authority.pem", authority.cert) } });
  const error = await failureFrom(postForEvents(eventRequest(`https://127.0.0.1:${port}`)));
  expect(error.kind).toBe("bad_request");
  expect(error.message).toMatch(message);
});

test("a server that does not speak TLS", async () => {
  const port = (await servers.http(answers)).split(":").at(-1);
  const error = await failureFrom(postForEvents(eventRequest(`https://127.0.0.1:${port}`)));
  expect(error.kind).toBe("network");
  expect(error.message).toMatch(/TLS/);
});

test("a file that cannot be used is named with its variable", async () => {
  const url = "https://127.0.0.1:1";
  for (const [name, text, why] of [
    ["missing.pem", undefined, /ENOENT/],
    ["text.pem", "hello", /no PEM certificate/],
    ["broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", /./],
  ] as const) {
    const path = text === undefined ? join(folder, name) : await file(name, text);
    configureTransport({ env: { SSL_CERT_FILE: path } });
    const error = await failureFrom(postForEvents(eventRequest(url)));
    expect(error).toMatchObject({ kind: "bad_request", retryable: false });
    expect(error.message).toContain(`Cannot use the certificates in ${path} (from SSL_CERT_FILE): `);
    expect(error.message).toMatch(why);
  }
});

test("the file is not looked at for http", async () => {
  const url = await servers.http(answers);
  configureTransport({ env: { SSL_CERT_FILE: join(folder, "missing.pem") } });
  expect(await readAll(await postForEvents(eventRequest(url)))).toBe("data: secret\n\n");
});
