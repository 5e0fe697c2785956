// Every public method of omp's RpcClient, each against a process of its own. Runs under Bun, as that client needs it:
//
//   bun omp-client.mjs '{"client": PATH, "cli": PATH, "parent": FOLDER}'      prints the rows as JSON
import { BOTH, HANG, heard, played, running } from "./both-clients.mjs";
import { check, equal } from "./world.mjs";

async function refused(work, words) {
  const said = await work.then(
    () => undefined,
    ({ message }) => message,
  );
  check(said !== undefined && words.test(said), `it is not refused as it should be: ${said}`);
}

const TASK = [
  [{ toolCall: { name: "task", arguments: { tasks: [{ id: "look", assignment: "Look around" }] } } }],
  "Found nothing.",
  "That was all.",
];

const METHODS = {
  ...BOTH,
  start: { see: async (client) => equal((await client.getState()).messageCount, 0, "messageCount") },
  stop: { see: async (client) => client.stop() },
  onEvent: {
    async see(client) {
      const seen = [];
      client.onEvent(({ type }) => seen.push(type));
      await client.promptAndWait("Hi");
      for (const type of ["agent_start", "message_update", "agent_end"])
        check(seen.includes(type), `no ${type} among ${seen}`);
    },
  },
  onSessionEvent: {
    async see(client) {
      const seen = [];
      client.onSessionEvent(({ type }) => seen.push(type));
      await client.promptAndWait("Hi");
      check(seen.includes("agent_end"), `no agent_end among ${seen}`);
    },
  },
  onSubagentLifecycle: { see: async (client) => seesSubAgent(client, "onSubagentLifecycle", "progress"), turns: TASK },
  onSubagentProgress: { see: async (client) => seesSubAgent(client, "onSubagentProgress", "progress"), turns: TASK },
  onSubagentEvent: { see: async (client) => seesSubAgent(client, "onSubagentEvent", "events"), turns: TASK },
  onAvailableCommandsUpdate: {
    see: async (client) => equal(typeof client.onAvailableCommandsUpdate(() => undefined), "function", "what it gives"),
  },
  getStderr: { see: async (client) => equal(typeof client.getStderr(), "string", "what it gives") },
  prompt: {
    turns: [[{ toolCall: { name: "read", arguments: { path: "notes.txt" } } }], "Two lines."],
    async see(client) {
      const idle = client.waitForIdle();
      await client.prompt("What is in notes.txt?");
      await idle;
      equal(await client.getLastAssistantText(), "Two lines.", "the answer");
    },
  },
  followUp: {
    turns: [[{ toolCall: { name: "bash", arguments: { command: "sleep 0.3" } } }], "First.", "Second."],
    async see(client) {
      const begun = heard(client, "tool_execution_start");
      const idle = client.waitForIdle();
      await client.prompt("Go");
      await begun;
      await client.followUp("And then?");
      await idle;
      equal(await client.getLastAssistantText(), "Second.", "the answer");
    },
  },
  abort: {
    turns: [HANG],
    async see(client) {
      await running(client);
      const ended = heard(client, "agent_end");
      await client.abort();
      equal((await ended).messages.at(-1).stopReason, "aborted", "the stop reason");
    },
  },
  abortAndPrompt: {
    turns: [HANG, "Another answer."],
    async see(client) {
      await running(client);
      const ended = heard(client, "agent_end");
      await client.abortAndPrompt("Rather this");
      await ended;
      await heard(client, "agent_end");
      equal(await client.getLastAssistantText(), "Another answer.", "the answer");
    },
  },
  newSession: {
    async see(client) {
      await client.promptAndWait("Hi");
      equal((await client.newSession()).cancelled, false, "cancelled");
      equal((await client.getState()).messageCount, 0, "messageCount");
    },
  },
  getState: {
    async see(client) {
      const state = await client.getState();
      for (const field of ["thinkingLevel", "isStreaming", "steeringMode", "interruptMode", "queuedMessageCount"])
        check(state[field] !== undefined, `no ${field} in the state`);
    },
  },
  setFastMode: { see: (client) => client.setFastMode(false) },
  setSubagentSubscription: { see: async (client) => client.setSubagentSubscription("progress") },
  getSubagents: { see: async (client) => equal(await client.getSubagents(), [], "the sub-agents") },
  getSubagentMessages: {
    turns: TASK,
    async see(client) {
      await client.setSubagentSubscription("progress");
      await client.promptAndWait("Delegate");
      const [{ id }] = await client.getSubagents();
      const read = await client.getSubagentMessages({ subagentId: id });
      check(JSON.stringify(read).includes("Look around"), `what it was told is not in ${JSON.stringify(read)}`);
    },
  },
  setModel: {
    async see(client) {
      equal((await client.setModel("mock", "mock-2")).id, "mock-2", "what it gives");
      await refused(client.setModel("mock", "none"), /not found/i);
    },
  },
  getAvailableModels: {
    see: async (client) =>
      check(
        (await client.getAvailableModels()).some(({ id }) => id === "mock-1"),
        "no mock-1",
      ),
  },
  getAvailableCommands: {
    see: async (client) =>
      check(
        (await client.getAvailableCommands()).some(({ name }) => name === "greet"),
        "the template is not listed",
      ),
  },
  compact: {
    turns: ["A long answer about many things.", "Another one.", "In short: two answers."],
    async see(client) {
      await client.promptAndWait("First");
      await client.promptAndWait("Second");
      check((await client.compact("Be short")).summary.includes("In short"), "no summary");
    },
  },
  setAutoRetry: { see: async (client) => client.setAutoRetry(false) },
  abortRetry: {
    turns: [[{ error: { status: 529, message: "overloaded" } }], "Never."],
    async see(client) {
      const begun = heard(client, "message_end");
      await client.prompt("Go");
      await begun;
      await new Promise((resolve) => setTimeout(resolve, 200));
      await client.abortRetry();
      equal((await client.getState()).isStreaming, false, "isStreaming");
    },
  },
  bash: {
    async see(client) {
      const { output, exitCode } = await client.bash("echo out; exit 3");
      equal([output, exitCode], ["out\n", 3], "the result");
    },
  },
  getSessionStats: {
    async see(client) {
      await client.promptAndWait("Hi");
      const { userMessages, assistantMessages } = await client.getSessionStats();
      equal([userMessages, assistantMessages], [1, 1], "the counts");
    },
  },
  handoff: {
    async see(client) {
      await client.promptAndWait("Hi");
      await client.handoff("go on");
    },
  },
  switchSession: {
    async see(client) {
      await client.promptAndWait("Hi");
      const { sessionFile } = await client.getState();
      await client.newSession();
      equal((await client.switchSession(sessionFile)).cancelled, false, "cancelled");
      equal((await client.getMessages()).length, 2, "the number of messages");
    },
  },
  branch: {
    async see(client) {
      await client.promptAndWait("One");
      await client.promptAndWait("Two");
      const [, second] = await client.getBranchMessages();
      equal((await client.branch(second.entryId)).text, "Two", "the text");
    },
  },
  getBranchMessages: {
    async see(client) {
      await client.promptAndWait("One");
      equal(
        (await client.getBranchMessages()).map(({ text }) => text),
        ["One"],
        "the messages",
      );
    },
  },
  getLastAssistantText: {
    async see(client) {
      await client.promptAndWait("One");
      equal(await client.getLastAssistantText(), "Hello.", "the text");
    },
  },
  getMessagesPage: {
    async see(client) {
      await client.promptAndWait("One");
      const page = await client.getMessagesPage({ limit: 1 });
      equal(page.messages.length, 1, "the number of messages");
    },
  },
  getMessages: {
    async see(client) {
      await client.promptAndWait("One");
      equal(
        (await client.getMessages()).map(({ role }) => role),
        ["user", "assistant"],
        "the roles",
      );
    },
  },
  getLoginProviders: { see: async (client) => check(Array.isArray(await client.getLoginProviders()), "no list") },
  login: { see: (client) => refused(client.login("nobody"), /Unknown OAuth provider/) },
  setCustomTools: {
    turns: [[{ toolCall: { name: "twice", arguments: { n: 21 } } }], "There."],
    async see(client) {
      const parameters = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
      const execute = async ({ n }) => `${n * 2}`;
      equal(
        await client.setCustomTools([{ name: "twice", description: "Doubles", parameters, execute }]),
        ["twice"],
        "the names",
      );
      const end = heard(client, "tool_execution_end");
      await client.promptAndWait("Double 21");
      const { result, isError } = await end;
      check(!isError && JSON.stringify(result).includes("42"), `the result is ${JSON.stringify(result)}`);
    },
  },
  collectEvents: {
    async see(client) {
      const events = client.collectEvents();
      await client.prompt("Go");
      check(
        (await events).some(({ type }) => type === "agent_end"),
        "no agent_end",
      );
    },
  },
  promptAndWait: {
    async see(client) {
      const events = await client.promptAndWait("Go");
      check(
        events.some(({ type }) => type === "agent_end"),
        "no agent_end",
      );
    },
  },
};

async function seesSubAgent(client, method, level) {
  const seen = [];
  client[method]((event) => seen.push(event));
  await client.setSubagentSubscription(level);
  await client.promptAndWait("Delegate");
  check(seen.length > 0, "nothing is told");
}

const { client, cli, parent, only } = JSON.parse(process.argv[2]);
const { RpcClient } = await import(client);
// Whoever still waited when a client was stopped is told so, and nobody listens any more.
process.removeAllListeners("unhandledRejection");
process.on("unhandledRejection", () => undefined);
const own = { dialect: "omp", args: ["--tools", "read,bash,task"] };
const rows = [];
for (const name of Object.getOwnPropertyNames(RpcClient.prototype)) {
  if (name === "constructor" || (only !== undefined && !name.includes(only))) continue;
  const method = METHODS[name];
  rows.push({
    name,
    ...(method ? await played(method, { RpcClient, cli, parent, own }) : { problem: "has no check yet" }),
  });
}
process.stdout.write(`${JSON.stringify(rows)}\n`);
process.exit();
