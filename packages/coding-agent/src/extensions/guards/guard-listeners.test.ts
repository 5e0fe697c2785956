import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { guardListeners, type ListenedProcess } from "./guard-listeners.ts";

/** A process of which an extension may forget everything but us. */
function setUp() {
  const host = new EventEmitter() as unknown as ListenedProcess & EventEmitter;
  const heard: string[] = [];
  const hears = (who: string) => () => void heard.push(who);
  let caller: string | undefined;
  const undo = guardListeners(host, () => caller);
  /** What an extension does. */
  const extension = (work: () => void): void => {
    caller = "/x.ts";
    work();
    caller = undefined;
  };
  const emitted = (event: string): string[] => {
    heard.length = 0;
    host.emit(event);
    return [...heard];
  };
  return { host, hears, extension, emitted, undo };
}

const forgetEach = (host: ListenedProcess & EventEmitter): void => {
  for (const one of host.listeners("SIGTERM")) host.off("SIGTERM", one as () => void);
};

test.each<[what: string, forget: (host: ListenedProcess & EventEmitter) => void]>([
  ["all of one event", (host) => host.removeAllListeners("SIGTERM")],
  ["all of everything", (host) => host.removeAllListeners()],
  ["one after the other", forgetEach],
])("%s: we still hear it, and nobody else does", (_what, forget) => {
  const { host, hears, extension, emitted } = setUp();
  host.on("SIGTERM", hears("we"));
  host.once("SIGTERM", hears("we once"));
  extension(() => {
    host.on("SIGTERM", hears("they"));
    host.once("SIGTERM", hears("they once"));
    host.prependListener("SIGTERM", hears("they first"));
  });
  extension(() => forget(host));
  expect(emitted("SIGTERM").filter((who) => who.startsWith("they"))).toEqual([]);
  expect(emitted("SIGTERM")).toContain("we");
});

test("what is taken back is what was meant", () => {
  const { host, hears, extension, emitted, undo } = setUp();
  const [own, ours] = [hears("they"), hears("we")];
  host.on("exit", ours);
  extension(() => host.on("exit", own));
  expect(emitted("exit")).toEqual(["we", "they"]);
  extension(() => host.removeListener("exit", own));
  expect(emitted("exit")).toEqual(["we"]);
  host.off("exit", ours);
  expect(emitted("exit")).toEqual([]);
  extension(() => host.once("exit", own));
  expect([emitted("exit"), emitted("exit")]).toEqual([["they"], []]);
  // Afterwards the process is as it was.
  host.on("exit", ours);
  undo();
  extension(() => host.removeAllListeners());
  expect(emitted("exit")).toEqual([]);
});
