// Every public method of pi's RpcClient, each against a process of its own.
import { existsSync } from "node:fs";
import { BOTH, HANG, heard, played, running } from "./both-clients.mjs";
import { check, equal } from "./world.mjs";

const typesOf = (events) => events.map(({ type }) => type);

/** Method by method: what the model says, and what must be seen. */
const METHODS = {
  ...BOTH,
  start: {
    async see(client) {
      equal((await client.getState()).messageCount, 0, "messageCount");
    },
  },
  stop: {
    async see(client) {
      await client.stop();
      await client.getState().then(
        () => check(false, "a stopped client still answers"),
        () => undefined,
      );
    },
  },
  onEvent: {
    async see(client) {
      const seen = [];
      const stop = client.onEvent(({ type }) => seen.push(type));
      await client.promptAndWait("Hi");
      stop();
      for (const type of ["agent_start", "turn_start", "message_start", "message_update", "message_end", "agent_end"])
        check(seen.includes(type), `no ${type} among ${seen}`);
    },
  },
  getStderr: {
    async see(client) {
      equal(typeof client.getStderr(), "string", "what it gives");
    },
  },
  prompt: {
    turns: [[{ toolCall: { name: "read", arguments: { path: "notes.txt" } } }], "Two lines."],
    async see(client) {
      const events = client.collectEvents();
      await client.prompt("What is in notes.txt?");
      const end = (await events).find(({ type }) => type === "tool_execution_end");
      check(end?.result.content[0].text.includes("second line"), "the tool has not read the file");
      equal(await client.getLastAssistantText(), "Two lines.", "the answer");
    },
  },
  followUp: {
    turns: [[{ toolCall: { name: "bash", arguments: { command: "sleep 0.3" } } }], "First.", "Second."],
    async see(client) {
      const begun = heard(client, "tool_execution_start");
      const events = client.collectEvents();
      await client.prompt("Go");
      await begun;
      await client.followUp("And then?");
      await events;
      equal(await client.getLastAssistantText(), "Second.", "the answer");
    },
  },
  abort: {
    turns: [HANG],
    async see(client) {
      await running(client);
      const ended = heard(client, "agent_end");
      await client.abort();
      const { messages } = await ended;
      equal(messages.at(-1).stopReason, "aborted", "the stop reason");
      equal((await client.getState()).isStreaming, false, "isStreaming");
    },
  },
  clearQueue: {
    turns: [HANG],
    async see(client) {
      await running(client);
      await client.steer("left");
      await client.followUp("right");
      equal(await client.clearQueue(), { steering: ["left"], followUp: ["right"] }, "what was queued");
      await client.abort();
    },
  },
  newSession: {
    async see(client) {
      await client.promptAndWait("Hi");
      const { sessionFile } = await client.getState();
      equal((await client.newSession(sessionFile)).cancelled, false, "cancelled");
      equal((await client.getState()).messageCount, 0, "messageCount");
    },
  },
  getState: {
    async see(client) {
      const state = await client.getState();
      for (const field of ["thinkingLevel", "isStreaming", "isCompacting", "steeringMode", "followUpMode", "sessionId"])
        check(state[field] !== undefined, `no ${field} in the state`);
      check(state.model?.provider && state.model.id, "no model in the state");
    },
  },
  setModel: {
    async see(client) {
      const set = await client.setModel("mock", "mock-2");
      equal(set.id, "mock-2", "what it gives");
      equal((await client.getState()).model.id, "mock-2", "the model");
      await client.setModel("mock", "none").then(
        () => check(false, "a model that is not there was set"),
        ({ message }) => check(/not found/i.test(message), message),
      );
    },
  },
  getAvailableModels: {
    async see(client) {
      const models = await client.getAvailableModels();
      const mock = models.find(({ id }) => id === "mock-1");
      check(mock && mock.contextWindow > 0 && mock.reasoning === true, "mock-1 is not listed as it is");
    },
  },
  getAvailableThinkingLevels: {
    async see(client) {
      await client.setModel("mock", "mock-1");
      const levels = await client.getAvailableThinkingLevels();
      check(JSON.stringify(levels).includes('"high"'), `the levels are ${JSON.stringify(levels)}`);
    },
  },
  compact: {
    turns: ["A long answer about many things.", "Another one.", "In short: two answers."],
    async see(client) {
      await client.promptAndWait("First");
      await client.promptAndWait("Second");
      const { summary, tokensBefore } = await client.compact("Be short");
      check(summary.includes("In short") && tokensBefore > 0, `the summary is ${summary}`);
    },
  },
  setAutoRetry: {
    turns: [[{ error: { status: 529, message: "overloaded" } }], "Never."],
    async see(client) {
      await client.setAutoRetry(false);
      const events = await client.promptAndWait("Go");
      check(!typesOf(events).includes("auto_retry_start"), "it is tried again");
    },
  },
  abortRetry: {
    turns: [[{ error: { status: 529, message: "overloaded" } }], "Never."],
    async see(client) {
      const waiting = heard(client, "auto_retry_start");
      const over = heard(client, "auto_retry_end");
      await client.prompt("Go");
      await waiting;
      await client.abortRetry();
      equal((await over).success, false, "success");
    },
  },
  bash: {
    turns: ["Seen."],
    async see(client) {
      const { output, exitCode, cancelled } = await client.bash("echo out; exit 3");
      equal([output, exitCode, cancelled], ["out\n", 3, false], "the result");
    },
  },
  getSessionStats: {
    async see(client) {
      await client.promptAndWait("Hi");
      const { userMessages, assistantMessages, tokens, cost } = await client.getSessionStats();
      equal([userMessages, assistantMessages], [1, 1], "the counts");
      check(tokens.total > 0 && cost >= 0, "no tokens");
    },
  },
  switchSession: {
    async see(client) {
      await client.promptAndWait("Hi");
      const { sessionFile } = await client.getState();
      check(existsSync(sessionFile), "there is no session file");
      await client.newSession();
      equal((await client.switchSession(sessionFile)).cancelled, false, "cancelled");
      equal((await client.getMessages()).length, 2, "the number of messages");
    },
  },
  fork: {
    async see(client) {
      await client.promptAndWait("One");
      await client.promptAndWait("Two");
      const [, second] = await client.getForkMessages();
      equal((await client.fork(second.entryId)).text, "Two", "the text");
      equal((await client.getMessages()).length, 2, "the number of messages");
    },
  },
  clone: {
    async see(client) {
      await client.promptAndWait("One");
      const { sessionId } = await client.getState();
      equal((await client.clone()).cancelled, false, "cancelled");
      const state = await client.getState();
      check(state.sessionId !== sessionId && state.messageCount === 2, "it is no other session with the same messages");
    },
  },
  getForkMessages: {
    async see(client) {
      await client.promptAndWait("One");
      equal(
        (await client.getForkMessages()).map(({ text }) => text),
        ["One"],
        "the messages",
      );
    },
  },
  getEntries: {
    async see(client) {
      await client.promptAndWait("One");
      const { entries, leafId } = await client.getEntries();
      check(
        entries.some(({ id }) => id === leafId),
        "the leaf is no entry",
      );
      const since = await client.getEntries(entries[0].id);
      equal(since.entries.length, entries.length - 1, "the entries since the first");
    },
  },
  getTree: {
    async see(client) {
      await client.promptAndWait("One");
      const { tree, leafId } = await client.getTree();
      check(tree.length === 1 && leafId, "no tree");
    },
  },
  getLastAssistantText: {
    async see(client) {
      equal((await client.getLastAssistantText()) ?? null, null, "the text before the first answer");
      await client.promptAndWait("One");
      equal(await client.getLastAssistantText(), "Hello.", "the text");
    },
  },
  setSessionName: {
    async see(client) {
      await client.setSessionName("a name");
      equal((await client.getState()).sessionName, "a name", "the name");
    },
  },
  getMessages: {
    async see(client) {
      await client.promptAndWait("One");
      const roles = (await client.getMessages()).map(({ role }) => role);
      equal(roles, ["user", "assistant"], "the roles");
    },
  },
  getCommands: {
    async see(client) {
      const greet = (await client.getCommands()).find(({ name }) => name === "greet");
      equal([greet?.source, greet?.description], ["prompt", "Greets"], "the template");
    },
  },
  collectEvents: {
    async see(client) {
      const events = client.collectEvents();
      await client.prompt("Go");
      check(typesOf(await events).includes("agent_end"), "no agent_end");
    },
  },
  promptAndWait: {
    async see(client) {
      const events = await client.promptAndWait("Go", [{ type: "image", data: PIXEL, mimeType: "image/png" }]);
      const user = events.find(({ type, message }) => type === "message_end" && message.role === "user");
      check(
        user.message.content.some(({ type }) => type === "image"),
        "the image is not in the message",
      );
    },
  },
};

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

/** Inner workings: what is called by the others. */
const INNER = ["constructor", "handleLine", "send", "getData", "createProcessExitError", "rejectPendingRequests"];

export async function checkPiClient({ RpcClient, cli, parent, only }) {
  const names = Object.getOwnPropertyNames(RpcClient.prototype).filter((name) => !INNER.includes(name));
  const rows = [];
  for (const name of names) {
    if (only !== undefined && !name.includes(only)) continue;
    const method = METHODS[name];
    rows.push({
      name,
      ...(method
        ? await played(method, { RpcClient, cli, parent, own: { dialect: "pi" } })
        : { problem: "has no check yet" }),
    });
  }
  return rows;
}
