import { afterEach, describe, expect, it } from "vitest";
import { ClientError } from "./errors.ts";
import { RpcClient } from "./rpc-client.ts";

/** Small shell scripts as agents: each is wrong in its own way. The first two commands are get_capabilities and get_state. */
const open: RpcClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.stop()));
});

function clientOf(script: string, options: object = {}): RpcClient {
  const client = new RpcClient({ command: () => ["/bin/sh", "-c", script], terminationGraceMs: 200, ...options });
  open.push(client);
  return client;
}

const say = (frame: object): string => `printf '%s\\n' '${JSON.stringify(frame)}'`;
const answer = (id: string, command: string, data: object = {}): string =>
  say({ id, type: "response", command, success: true, data });
/** Ready for the third command, as an agent without capabilities. */
const UP = `read a; read b; ${answer("req_2", "get_state")}`;
const prompted = `${UP}; read c; ${answer("req_3", "prompt", { disposition: "started" })}`;
const last = { role: "assistant", content: [{ type: "text", text: "done" }], stopReason: "stop" };
const END = `${say({ type: "message_end", message: last })}; ${say({ type: "agent_end", messages: [last] })}`;

async function failure(promise: Promise<unknown>): Promise<ClientError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ClientError);
  return error as ClientError;
}

describe("an agent as a process", () => {
  it("that is not there", async () => {
    const client = new RpcClient({ command: "/no/such/agent" });
    const error = await failure(client.start());
    expect(error.code).toBe("exited");
    expect(error.message).toBe("The agent could not be started: spawn /no/such/agent ENOENT");
    await client.stop();
    expect((await failure(new RpcClient({ command: "a\0b" }).start())).message).toContain("could not be started");
    expect((await failure(clientOf("true", { cwd: "/dev/null/x" }).start())).message).toContain("in /dev/null/x");
  });

  it("that exits at once, with its last words", async () => {
    const error = await failure(clientOf("echo no key >&2; exit 3").start());
    expect(error.message).toBe("Agent process exited with code 3 before it was ready. Stderr: no key");
    expect([error.exitCode, error.stderr]).toEqual([3, "no key\n"]);
    expect((await failure(clientOf("echo usage: agent; exit 0").start())).message).toContain("Stdout: usage: agent");
  });

  it("that hangs, and does not want to go", async () => {
    const client = clientOf("trap '' TERM; while :; do sleep 0.1; done", {
      startTimeoutMs: 100,
      terminationGraceMs: 50,
    });
    expect((await failure(client.start())).message).toContain("no answer after 100 ms");
    expect(client.isRunning).toBe(false);
  });

  it("that prints all kinds of things between its frames", async () => {
    const noise = "echo; echo hello; echo '{'; echo '[1]'; echo null; echo '{\"a\":1}'; printf 'a\\rb\\n'";
    const client = clientOf(`${noise}; ${prompted}; ${noise}; ${END}; cat >/dev/null`);
    await client.start();
    expect(await client.ask("hi")).toMatchObject({ status: "completed", text: "done" });
    expect(client.getNoise().slice(0, 5)).toEqual(["hello", "{", "[1]", "null", '{"a":1}']);
  });

  it("that is killed in the middle of a prompt", async () => {
    const client = clientOf(`${prompted}; ${say({ type: "agent_start" })}; echo oops >&2; kill -9 $$`);
    await client.start();
    const seen: string[] = [];
    const loop = async () => {
      for await (const event of client.run("hi")) seen.push(event.type);
    };
    expect((await failure(loop())).message).toBe("Agent process was ended by SIGKILL. Stderr: oops");
    expect(seen).toEqual(["agent_start"]);
    expect((await failure(client.prompt("again"))).code).toBe("exited");
  });

  it("that leaves a child which holds its stdout open", async () => {
    const client = clientOf(`${UP}; sleep 5 & exit 7`);
    await client.start();
    expect((await failure(client.nextEvent("notice"))).exitCode).toBe(7);
  });

  it("that floods is read no faster than its events are taken, and stops when it is told to", async () => {
    const line = JSON.stringify({ type: "turn_start" });
    const client = clientOf(`${prompted}; exec yes '${line}'`, { maxQueuedEvents: 100 });
    await client.start();
    let count = 0;
    for await (const event of client.run("hi")) {
      if (event.type === "turn_start") count++;
      if (count === 50) await new Promise((resolve) => setTimeout(resolve, 20));
      if (count === 20_000) break;
    }
    expect(count).toBe(20_000);
    await client.stop();
    await client.stop();
  });

  it("that sends a frame in pieces, and one that mixes them up", async () => {
    const data = Buffer.from(JSON.stringify({ type: "notice", level: "info", message: "large" }));
    const piece = (index: number) =>
      say({
        type: "rpc_chunk",
        chunkId: "rpc-1",
        index,
        count: 2,
        byteLength: data.length,
        data: data.subarray(index * 20, index === 0 ? 20 : undefined).toString("base64"),
      });
    const heard = async (...indexes: number[]) => {
      const client = clientOf(`${UP}; read c; ${indexes.map(piece).join("; ")}; cat >/dev/null`);
      await client.start();
      const notice = client.nextEvent("notice");
      notice.catch(() => undefined);
      client.getTree().catch(() => undefined);
      return notice;
    };
    expect(await heard(0, 1)).toMatchObject({ message: "large" });
    const error = await failure(heard(1, 0));
    expect([error.code, error.message]).toEqual([
      "protocol",
      "A frame came in pieces that do not fit together: piece 1 of rpc-1 came when 0 was due",
    ]);
  });

  it("is started again, with the session that it had", async () => {
    const state = { sessionFile: "/s/1.jsonl" };
    const scripts = [
      `read a; read b; ${answer("req_2", "get_state", state)}; read c; exit 1`,
      `read a; read b; ${answer("req_5", "get_state", state)}; read c; ${answer("req_6", "get_state", state)}; cat`,
    ];
    const argv: string[] = [];
    const client = new RpcClient({
      restarts: 1,
      command: (args) => {
        argv.push(args.join(" "));
        return ["/bin/sh", "-c", scripts.shift() ?? "exit 2"];
      },
    });
    open.push(client);
    await client.start();
    expect((await failure(client.getTree())).exitCode).toBe(1);
    expect(await client.getState()).toEqual(state);
    expect(argv).toEqual(["--mode rpc", "--mode rpc --session /s/1.jsonl"]);
  });
});
