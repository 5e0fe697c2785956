import { expect, test } from "vitest";
import type { TransportEnvironment } from "./environment.ts";
import { isExempt, isLoopback, proxyFor } from "./proxy-settings.ts";

const proxyName = (url: string, env: TransportEnvironment) => proxyFor(new URL(url), env)?.name;

test.each<[story: string, url: string, env: TransportEnvironment, name: string | undefined]>([
  ["nothing set", "https://api.test/", {}, undefined],
  ["empty is not set", "https://api.test/", { HTTPS_PROXY: "", ALL_PROXY: " " }, undefined],
  ["https", "https://api.test/", { HTTPS_PROXY: "http://p:3128" }, "http://p:3128"],
  ["http has its own", "http://api.test/", { HTTPS_PROXY: "http://p:3128" }, undefined],
  ["http", "http://api.test/", { HTTP_PROXY: "http://p:3128" }, "http://p:3128"],
  ["lower case wins", "https://api.test/", { HTTPS_PROXY: "http://A", https_proxy: "http://b" }, "http://b"],
  ["all", "https://api.test/", { ALL_PROXY: "http://p" }, "http://p"],
  ["the own one before all", "https://api.test/", { all_proxy: "http://a", HTTPS_PROXY: "http://p" }, "http://p"],
  ["without a scheme", "https://api.test/", { HTTPS_PROXY: "p:3128" }, "http://p:3128"],
  ["a proxy that speaks TLS", "https://api.test/", { HTTPS_PROXY: "https://p:443" }, "https://p"],
  ["exempt", "https://api.test/", { HTTPS_PROXY: "http://p", NO_PROXY: "x,api.test" }, undefined],
  ["lower-case no_proxy wins", "https://api.test/", { HTTPS_PROXY: "p", NO_PROXY: "*", no_proxy: "x" }, "http://p"],
  ["our own machine", "http://localhost:11434/", { HTTP_PROXY: "http://p" }, undefined],
  ["our own machine by number", "https://127.0.0.1/", { ALL_PROXY: "http://p" }, undefined],
])("the proxy: %s", (_story, url, env, name) => {
  expect(proxyName(url, env)).toBe(name);
});

test("user and password become a header and are in no name", () => {
  const proxy = proxyFor(new URL("https://api.test/"), { HTTPS_PROXY: "http://me:p%40ss%@p:3128" });
  expect(proxy).toMatchObject({ name: "http://p:3128", variable: "HTTPS_PROXY" });
  expect(Buffer.from(proxy?.authorization?.slice("Basic ".length) ?? "", "base64").toString()).toBe("me:p%40ss%");
  const other = proxyFor(new URL("https://api.test/"), { HTTPS_PROXY: "http://me:p%40ss@p:3128" });
  expect(other?.authorization).toBe(`Basic ${Buffer.from("me:p@ss").toString("base64")}`);
});

test.each([
  [
    "socks5://user:secret@p:1080",
    "HTTPS_PROXY names a socks5:// proxy (p:1080): only http:// and https:// proxies are",
  ],
  ["http://", "HTTPS_PROXY is not the address of a proxy: give it as http://host:port"],
  ["http://:x:y", "HTTPS_PROXY is not the address of a proxy"],
])("%s is refused, without its password", (value, message) => {
  const find = () => proxyFor(new URL("https://api.test/"), { HTTPS_PROXY: value });
  expect(find).toThrow(message);
  expect(find).not.toThrow("secret");
});

test.each([
  ["*", true],
  ["api.example.com", true],
  ["API.Example.com", true],
  ["example.com", true],
  [".example.com", true],
  ["*.example.com", true],
  ["pi.example.com", false],
  ["com.example", false],
  ["ample.com", false],
  ["api.example.com:443", true],
  ["api.example.com:8443", false],
  [".example.com:443", true],
  ["a.test b.test,example.com", true],
  ["", false],
  [" , ", false],
  [".", false],
  ["example.com/8", false],
])("NO_PROXY=%j exempts https://api.example.com: %s", (noProxy, exempt) => {
  expect(isExempt(new URL("https://api.example.com/v1"), noProxy)).toBe(exempt);
});

test.each([
  ["http://10.1.2.3/", "10.1.2.3", true],
  ["http://10.1.2.3:8080/", "10.1.2.3:8080", true],
  ["http://10.1.2.3/", "10.0.0.0/8", true],
  ["http://11.1.2.3/", "10.0.0.0/8", false],
  ["http://192.168.1.7/", "192.168.1.0/24", true],
  ["http://192.168.2.7/", "192.168.1.0/24", false],
  ["http://8.8.8.8/", "0.0.0.0/0", true],
  ["http://8.8.8.8/", "8.8.8.8/33", false],
  ["http://8.8.8.8/", "8.8.8.999/32", false],
  ["http://[fe80::1]/", "fe80::1", true],
  ["http://[fe80::1]:99/", "[fe80::1]:99", true],
  ["http://[fe80::1]:98/", "[fe80::1]:99", false],
])("%s is exempt by %s: %s", (url, noProxy, exempt) => {
  expect(isExempt(new URL(url), noProxy)).toBe(exempt);
});

test.each([
  ["localhost", true],
  ["a.localhost", true],
  ["127.3.2.1", true],
  ["[::1]", true],
  ["0.0.0.0", true],
  ["localhost.example.com", false],
  ["128.0.0.1", false],
  ["notlocalhost", false],
])("%s is our own machine: %s", (host, own) => {
  expect(isLoopback(host)).toBe(own);
});
