// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these placeholders are those of prompt templates
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at, type Frame } from "../support/frame.ts";
import type { RpcOptions, RpcProcess } from "../support/rpc-process.ts";
import { namesOf, skill, useAskedModel, warnings, writeText } from "./asked-model.ts";
import { ended, isIncrement, messagesOf, ofType, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";

/** `/template arguments` and `/skill:name arguments`, told by what a model on loopback is really sent. */

const { start, requests, said } = useAskedModel();
/** Of a dialect that has no prompt_result. */
async function settled(rpc: RpcProcess, message: string): Promise<void> {
  const since = rpc.mark();
  await rpc.call({ type: "prompt", message });
  await rpc.waitFor("agent_settled", { since });
}

describe("a prompt that calls a text by its name", () => {
  const files = {
    ".tiller/prompts/fix.md": "---\ndescription: Fix a bug\nargument-hint: [bug] [file]\n---\nFix $1 in $2.\n",
    ".agents/skills/knots/SKILL.md": skill("knots", "# Knots\n\nRead bends.md, not $1."),
  };
  const knots = (rpc: RpcProcess): string => {
    const folder = join(rpc.sandbox.cwd, ".agents/skills/knots");
    const opening = `<skill name="knots" location="${folder}/SKILL.md">\nReferences are relative to ${folder}.`;
    return `${opening}\n\n# Knots\n\nRead bends.md, not $1.\n</skill>`;
  };

  proves(["pi.prompt.skill-expanded", "pi.prompt.template-expanded"], "is what the text says", async () => {
    const rpc = start({ files });
    const { response, frames } = await rpc.prompt('/fix "the bug" main.ts');
    expect(response).toMatchObject({ success: true, data: { disposition: "started" } });
    expect(said()).toEqual(["Fix the bug in main.ts."]);
    expect(ended(frames, "user").content).toEqual([{ type: "text", text: "Fix the bug in main.ts." }]);
    await rpc.prompt("/skill:knots tie $1\n  twice");
    expect(said().at(-1)).toBe(`${knots(rpc)}\n\ntie $1\n  twice`);
    const kept = (await messagesOf(rpc)).filter(({ role }) => role === "user").map((message) => at(message, "content"));
    expect(kept).toMatchObject([[{ text: "Fix the bug in main.ts." }], [{ text: `${knots(rpc)}\n\ntie $1\n  twice` }]]);
  });

  it("keeps its images", async () => {
    const image = { type: "image", data: "aGVsbG8=", mimeType: "image/png" };
    await start({ files }).prompt("/fix a b", { images: [image] });
    expect(said()).toEqual(["Fix a in b.", "aGVsbG8="]);
  });

  it.each(["/nothing at all", "/usr/bin is full", "/skill:nothing", "/knots", " /fix a b", "/"])(
    "is sent as it is when nothing has the name: %j",
    async (message) => {
      const rpc = start({ files });
      await rpc.prompt(message);
      expect(said()).toEqual([message]);
      expect(warnings(rpc)).toEqual([]);
    },
  );

  proves(
    "pi.prompt.expanded-before-queue",
    "is looked up before it is queued: steer, follow_up and prompt while a run streams",
    async () => {
      const rpc = start({ script: ['text "one" + hang', 'text "two"'], files, args: ["--model", "script/script"] });
      const since = rpc.mark();
      await rpc.call({ type: "prompt", message: "begin" });
      await rpc.waitFor(isIncrement("text_delta"), { since });
      const queued = { success: true, data: { disposition: "queued" } };
      expect(await rpc.call({ type: "steer", message: "/fix one a.ts" })).toMatchObject(queued);
      expect(await rpc.call({ type: "follow_up", message: "/fix two b.ts" })).toMatchObject(queued);
      const third = { type: "prompt", message: "/skill:knots", streamingBehavior: "steer" };
      expect(await rpc.call(third)).toMatchObject(queued);
      const fourth = { type: "prompt", message: "/nothing here", streamingBehavior: "followUp" };
      expect(await rpc.call(fourth)).toMatchObject(queued);
      expect(ofType(rpc.frames, "queue_update").at(-1)).toMatchObject({
        steering: ["Fix one in a.ts.", knots(rpc)],
        followUp: ["Fix two in b.ts.", "/nothing here"],
      });
      // What was looked up stays: the file may be gone when its turn comes.
      rmSync(join(rpc.sandbox.cwd, ".tiller"), { recursive: true });
      const { data } = await rpc.call({ type: "clear_queue" });
      expect(data).toMatchObject({ steering: ["Fix one in a.ts.", knots(rpc)] });
      await rpc.call({ type: "abort" });
    },
  );

  it("reaches the model from the queue as the text it stands for", async () => {
    const rpc = start({ files });
    await rpc.call({ type: "steer", message: "/fix one a.ts" });
    await rpc.call({ type: "follow_up", message: "/fix two b.ts" });
    await rpc.prompt("begin");
    expect(said()).toEqual(["begin", "Fix one in a.ts.", "Fix two in b.ts."]);
  });

  it("keeps its place in the queue, whatever is read right after it", async () => {
    const rpc = start({ script: ['text "one" + hang'], files, args: ["--model", "script/script"] });
    const lines = [
      { id: "1", type: "prompt", message: "begin" },
      { id: "2", type: "prompt", message: "/fix a b", streamingBehavior: "steer" },
      { id: "3", type: "prompt", message: "plain", streamingBehavior: "steer" },
      { id: "4", type: "steer", message: "/fix c d" },
      { id: "5", type: "steer", message: "last" },
      { id: "6", type: "get_state" },
      { id: "7", type: "prompt", message: "/fix e f", streamingBehavior: "followUp" },
      { id: "8", type: "new_session" },
    ];
    rpc.send(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await rpc.waitFor(({ type, id }) => type === "response" && id === "8");
    expect(ofType(rpc.frames, "response").map(({ id }) => id)).toEqual(lines.map(({ id }) => id));
    const fullest = { steering: ["Fix a in b.", "plain", "Fix c in d.", "last"], followUp: ["Fix e in f."] };
    expect(ofType(rpc.frames, "queue_update")).toContainEqual(expect.objectContaining(fullest));
    const results = ofType(rpc.frames, "prompt_result").map(({ id, status }) => `${id} ${status}`);
    expect(results.sort()).toEqual(["1 aborted", "2 aborted", "3 aborted", "7 aborted"]);
    expect(await stateOf(rpc)).toMatchObject({ pendingMessageCount: 0, messageCount: 0 });
  });

  it("takes the place of a run with abort_and_prompt", async () => {
    const script = ['text "one" + hang', 'text "two"'];
    const rpc = start({ script, files, args: ["--model", "script/script"] });
    await rpc.call({ type: "prompt", message: "begin" });
    await rpc.waitFor(isIncrement("text_delta"));
    const since = rpc.mark();
    const { id } = await rpc.call({ type: "abort_and_prompt", message: "/fix it now" });
    const isOurs = (frame: Frame): boolean => frame.type === "prompt_result" && frame.id === id;
    expect(await rpc.waitFor(isOurs, { since })).toMatchObject({ status: "completed" });
    expect(ended(rpc.frames.slice(since), "user").content).toEqual([{ type: "text", text: "Fix it in now." }]);
  });

  it("can be aborted before it has begun, and then nothing is sent", async () => {
    const rpc = start({ files });
    rpc.send('{"id":"1","type":"prompt","message":"/fix a b"}\n{"id":"2","type":"abort"}\n');
    expect(await rpc.waitFor("prompt_result")).toMatchObject({ id: "1", status: "aborted" });
    await rpc.waitFor((frame) => frame.id === "2" && frame.type === "response");
    expect(requests()).toEqual([]);
  });

  describe("whose file is gone", () => {
    const gone = async (options: RpcOptions = {}): Promise<{ rpc: RpcProcess; error: string }> => {
      const rpc = start({ files, ...options });
      expect(await namesOf(rpc)).toEqual(["fix", "skill:knots"]);
      const path = join(rpc.sandbox.cwd, ".tiller/prompts/fix.md");
      rmSync(path);
      return { rpc, error: `The template "fix" cannot be read from ${path}: ENOENT` };
    };

    it("fails after the answer, with a result and a second response, and the session goes on", async () => {
      const { rpc, error } = await gone();
      const { response, result, frames } = await rpc.prompt("/fix a b");
      expect(response).toMatchObject({ success: true, data: { disposition: "started" } });
      expect(result).toMatchObject({ status: "error", error: { message: expect.stringContaining(error) } });
      const second = await rpc.waitFor(({ id, success }) => id === response.id && success === false);
      expect(second).toMatchObject({ command: "prompt", error: expect.stringContaining(error) });
      expect(frames.map(({ type }) => type)).toEqual(expect.arrayContaining(["agent_start", "agent_end"]));
      expect(requests()).toEqual([]);
      expect(await messagesOf(rpc)).toEqual([]);
      await rpc.prompt("then without it");
      expect(said()).toEqual(["then without it"]);
    });

    it("is refused where it would have been queued", async () => {
      const { rpc, error } = await gone();
      for (const type of ["steer", "follow_up"]) {
        expect(await rpc.call({ type, message: "/fix a b" })).toMatchObject({
          command: type,
          success: false,
          error: expect.stringContaining(error),
        });
      }
      await rpc.prompt("plain");
      expect(said()).toEqual(["plain"]);
    });

    it("is refused while a run streams, and has no result", async () => {
      const { rpc, error } = await gone({ script: ['text "one" + hang'], args: ["--model", "script/script"] });
      await rpc.call({ type: "prompt", message: "begin" });
      const response = await rpc.call({ type: "prompt", message: "/fix a b", streamingBehavior: "followUp" });
      expect(response).toMatchObject({ success: false, error: expect.stringContaining(error) });
      await rpc.call({ type: "abort" });
      expect(ofType(rpc.frames, "prompt_result").map(({ id }) => id)).not.toContain(response.id);
      expect(await stateOf(rpc)).toMatchObject({ pendingMessageCount: 0 });
    });
  });

  it("is refused when the text is empty: no model takes nothing", async () => {
    const rpc = start({
      files: { ".pi/prompts/empty.md": "---\ndescription: Nothing\n---\n\n", ".pi/prompts/all.md": "$@" },
    });
    for (const message of ["/empty a", "/all"]) {
      const { result } = await rpc.prompt(message);
      expect(result).toMatchObject({
        status: "error",
        error: { message: expect.stringMatching(/template ".*" is empty/) },
      });
    }
    expect(requests()).toEqual([]);
    await rpc.prompt("/all of it");
    expect(said()).toEqual(["of it"]);
  });

  it("is read anew each time", async () => {
    const rpc = start({ files });
    await rpc.prompt("/fix a b");
    writeText(rpc.sandbox.cwd, ".tiller/prompts/fix.md", "Mend $1.");
    await rpc.prompt("/fix a b");
    expect(said()).toEqual(["Fix a in b.", "Mend a."]);
  });
});

describe("the arguments of a template", () => {
  const files = {
    ".pi/prompts/each.md": "1=$1 2=$2 all=$@ same=$ARGUMENTS",
    ".pi/prompts/slices.md": "from=${@:2} two=${@:2:2} omp=$@[2] omp2=$@[2:2]",
    ".pi/prompts/defaults.md": "${1:-nobody} and ${@:-nothing}",
    ".pi/prompts/plain.md": "Look at the tests.",
    ".omp/commands/plain-omp.md": "Look at the tests.",
  };
  const SAME: [message: string, text: string][] = [
    ["/each a 'b c' $1", "1=a 2=b c all=a b c $1 same=a b c $1"],
    ["/each", "1= 2= all= same="],
    ["/slices a b c d", "from=b c d two=b c omp=b c d omp2=b c"],
    ["/defaults", "nobody and nothing"],
    ["/defaults x", "x and x"],
  ];
  const UNUSED: Record<string, [pi: string, omp: string]> = {
    union: ["Look at the tests.", "Look at the tests.\n\nnow"],
    pi: ["Look at the tests.", "Look at the tests."],
    omp: ["Look at the tests.\n\nnow", "Look at the tests.\n\nnow"],
    xcsh: ["Look at the tests.\n\nnow", "Look at the tests.\n\nnow"],
  };

  it.each(Object.entries(UNUSED))("are put in, in %s, in the ways of all systems", async (dialect, [pi, omp]) => {
    const rpc = start({ files, args: ["--dialect", dialect] });
    const cases = [...SAME, ["/plain now", pi], ["/plain-omp now", omp]] as const;
    for (const [message] of cases) await settled(rpc, message);
    expect(said()).toEqual(cases.map(([, text]) => text));
  });
});
