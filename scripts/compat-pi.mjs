#!/usr/bin/env node
// Session files go back and forth between Tiller and pi: installs the real pi into a temp folder, opens our files with
// its SessionManager and its files with our process, and compares what the two say. Needs the package registry.
//
//   node scripts/compat-pi.mjs             installs pi, checks, removes it again
//   node scripts/compat-pi.mjs --pi DIR    uses the pi that is installed in DIR/node_modules
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startMock } from "../bench/processes.mjs";
import { startAgent } from "./compat/agent.mjs";
import { createComparison, ourView, piView, withoutChoices } from "./compat/views.mjs";
import { cliPath, ensure, root } from "./ensure.mjs";

const PI = "@mariozechner/pi-coding-agent";
const PI_VERSION = "0.73.1";
const FIXTURES = join(root, "test/fixtures/sessions");
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const IMAGES = [{ type: "image", data: PIXEL, mimeType: "image/png" }];

/** Another build than the one in the tree, as for the tests. */
const CLI = process.env.TILLER_CLI ?? cliPath;

function install(folder) {
  mkdirSync(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
  const result = spawnSync("npm", [...args, `${PI}@${PI_VERSION}`], { encoding: "utf8" });
  if (result.status === 0) return;
  throw new Error(`pi ${PI_VERSION} could not be installed; the check needs the package registry.\n${result.stderr}`);
}

async function loadPi(installed, folder) {
  // What pi reads when it is loaded must not be what the user has.
  process.env.PI_CODING_AGENT_DIR = join(folder, "pi-agent");
  const dist = join(installed, "node_modules", PI, "dist");
  const { SessionManager } = await import(pathToFileURL(join(dist, "index.js")).href);
  return { SessionManager, cli: join(dist, "cli.js") };
}

const comparison = createComparison();
const { same } = comparison;

const userEntries = (view) => view.entries.filter((entry) => entry.message?.role === "user");
const answers = (view) => view.entries.filter((entry) => entry.message?.role === "assistant");

/** What pi says of a session that has no level, and a size that makes a small conversation worth a compaction. */
const SETTINGS = {
  defaultThinkingLevel: "off",
  retry: { baseDelayMs: 1 },
  compaction: { keepRecentTokens: 20 },
};

function startTiller(world, { folder, script, settings = SETTINGS }) {
  const agentFiles = script && { "script.json": JSON.stringify(script) };
  const args = script && ["--script", join(folder, "agent/script.json")];
  return startAgent({ cli: CLI, folder, port: world.port, settings, agentFiles, args, doneType: "session_settled" });
}

/** One answer a call; the last one is given for every further call, also to whoever asks for a summary. */
const SCRIPT = {
  onEnd: "repeat-last",
  turns: [
    [{ thinking: "Let me see.", signature: "c2ln" }, { text: "A plan." }],
    [{ text: "Looking." }, { toolCall: { name: "bash", arguments: { command: "echo from a tool" } } }],
    "That was it.",
    [{ error: { status: 529, message: "overloaded" } }],
    [{ text: "Now for" }, { error: { status: 529, message: "overloaded" } }],
    "At the third try.",
    [{ toolCall: { name: "bash", arguments: { command: "sleep 20" } } }],
    "In other words, it was done.",
  ],
};

/** A conversation with everything that a session can hold; yields it after each chapter. */
async function* tellStory(rpc) {
  await rpc.prompt("Make a plan");
  await rpc.prompt("Do it", { images: IMAGES });
  yield ["prompts, an image and a tool", await ourView(rpc)];
  await rpc.prompt("Try");
  yield ["an answer that was tried three times", await ourView(rpc)];
  await rpc.abortedPrompt("Wait", "tool_execution_start");
  yield ["a tool that was stopped", await ourView(rpc)];

  await rpc.call({ type: "set_thinking_level", level: "high" });
  await rpc.call({ type: "bash", command: "echo from the shell" });
  await rpc.call({ type: "set_session_name", name: "a plan" });
  const told = (await ourView(rpc)).view;
  await rpc.call({ type: "set_label", entryId: answers(told)[0].id, label: "the plan" });
  await rpc.call({ type: "set_label", entryId: answers(told)[1].id, label: "not for long" });
  await rpc.call({ type: "set_label", entryId: answers(told)[1].id });
  await rpc.prompt("Go on");
  yield ["level, shell, name and labels", await ourView(rpc)];

  await rpc.call({ type: "navigate_tree", entryId: answers(told)[0].id });
  yield ["after navigation, before anything else", await ourView(rpc)];
  await rpc.call({ type: "set_label", entryId: answers(told).at(-1).id, label: "on the other branch" });
  await rpc.prompt("Do it differently");
  yield ["a second branch, and a label for the first", await ourView(rpc)];
  await rpc.call({ type: "navigate_tree", entryId: userEntries(told)[0].id });
  yield ["before the first question", await ourView(rpc)];
  await rpc.prompt("A new beginning");
  yield ["a second root of the conversation", await ourView(rpc)];

  await rpc.call({ type: "navigate_tree", entryId: answers(told).at(-1).id, summarize: true });
  yield ["back, with a summary of the branch", await ourView(rpc)];
  await rpc.prompt("Now that you know that, go on");
  yield ["after the summary", await ourView(rpc)];

  await rpc.call({ type: "compact" });
  const compacted = await ourView(rpc);
  yield ["compacted", compacted];
  // What is forked and cloned below has a label on its path.
  await rpc.call({ type: "set_label", entryId: compacted.view.leafId, label: "all so far" });
  await rpc.prompt("And then?");
  yield ["after the compaction", await ourView(rpc)];

  const points = userEntries((await ourView(rpc)).view);
  await rpc.call({ type: "clone" });
  yield ["cloned", await ourView(rpc)];
  await rpc.prompt("In the copy");
  await rpc.call({ type: "fork", entryId: points.at(-1).id });
  await rpc.prompt("In another file");
  yield ["forked", await ourView(rpc)];
}

/** The conversation is compacted by itself, twice. */
async function* tellLongStory(rpc) {
  for (const [chapter, message] of Object.entries({ first: "Tell a long story", second: "And a longer one" })) {
    await rpc.prompt("Are you there?");
    const frames = await rpc.prompt(message);
    const end = frames.find(({ type }) => type === "compaction_end");
    if (!end?.result) throw new Error(`no compaction after "${message}": ${JSON.stringify(end)}`);
    yield [`compacted by itself, ${chapter} time`, await ourView(rpc)];
  }
  await rpc.prompt("Too much");
  yield ["compacted because it was too much, and answered", await ourView(rpc)];
}

/** Nothing of the conversation is kept. */
async function* tellShortStory(rpc) {
  await rpc.prompt("Are you there?");
  await rpc.call({ type: "compact" });
  yield ["all of it in a summary", await ourView(rpc)];
  await rpc.prompt("And now?");
  yield ["after the summary of all", await ourView(rpc)];
}

const LONG_SETTINGS = { ...SETTINGS, compaction: { keepRecentTokens: 1, thresholdTokens: 4000 } };
const longAnswer = (text) => [{ text, times: 50 }, { usage: { input: 5000, output: 250 } }];
const YES = [{ text: "Yes, and so are you. ", times: 50 }];
const LONG_SCRIPT = {
  onEnd: "repeat-last",
  turns: [
    YES,
    longAnswer("Once upon a time ..."),
    // The cut is within a turn, whose beginning gets a summary of its own.
    "Somebody was there.",
    "A story was asked for.",
    YES,
    longAnswer("Long before that ..."),
    "Somebody was there.",
    "Two stories were told.",
    [{ error: { kind: "overflow", message: "prompt is too long" } }],
    "It was too much.",
  ],
};

async function ourFilesInPi(world, folder) {
  const last = await told(world, { folder, script: SCRIPT }, tellStory);
  await piGoesOn(world, folder, last);
  await told(world, { folder, script: LONG_SCRIPT, settings: LONG_SETTINGS }, tellLongStory);
  await told(world, { folder, script: { onEnd: "repeat-last", turns: [YES, "Yes."] }, settings: {} }, tellShortStory);
}

/** Kinds of entries that have been seen in our files. */
const seen = new Set();
const MUST_BE_SEEN = [
  ...["message", "model_change", "thinking_level_change", "compaction", "branch_summary", "label", "session_info"],
  ...["custom tiller.leaf", "custom tiller.run_end", "custom tiller.cut"],
];

/** Compares after each chapter; the last file is given back. */
async function told(world, options, story) {
  const rpc = startTiller(world, options);
  try {
    for await (const [chapter, { file, view }] of story(rpc)) {
      for (const { type, customType } of view.entries) seen.add(type === "custom" ? `custom ${customType}` : type);
      const pis = piView(world.SessionManager, file, options.folder);
      same(`ours in pi: ${chapter}`, { ...view, isRewritten: false }, pis);
    }
    const { file } = await ourView(rpc);
    await rpc.end();
    return file;
  } finally {
    rpc.kill();
  }
}

/** pi adds to our file, then we go on with that. */
async function piGoesOn(world, folder, file) {
  const session = world.SessionManager.open(file, folder);
  const at = Date.now();
  const answer = answers({ entries: session.getEntries() }).at(-1).message;
  const asked = session.appendMessage({
    role: "user",
    content: [{ type: "text", text: "Asked in pi" }],
    timestamp: at,
  });
  session.appendMessage({ ...answer, timestamp: at + 1 });
  session.appendLabelChange(asked, "in pi");
  session.appendCustomEntry("bookmark", { line: 12 });
  session.appendCustomMessageEntry("reminder", "Said by an extension of pi.", true, { count: 1 });
  session.appendSessionInfo("named in pi");
  await opened("ours, continued by pi", world, folder, file);
}

/** Our process opens the file, agrees with pi, adds a prompt, and pi agrees with that. */
async function opened(what, world, folder, file) {
  const before = piView(world.SessionManager, file, folder);
  const rpc = startTiller(world, { folder });
  try {
    await rpc.call({ type: "switch_session", sessionPath: file });
    const { id, name, thinkingLevel, messages, ...place } = withoutChoices((await ourView(rpc)).view, before);
    // The model of our own stories is not to be had here; ids that pi made up in an old file are its own.
    const isKnown = before.model.provider === "mock";
    const isOld = before.isRewritten;
    same(what, { id, name, thinkingLevel, messages }, before);
    if (!isOld) same(what, isKnown ? place : { ...place, model: before.model }, before);
    await rpc.prompt("Asked in Tiller deltas=3");
    const { view } = await ourView(rpc);
    const after = piView(world.SessionManager, file, folder);
    same(`${what}, then prompted here`, { ...view, isRewritten: false }, after);
    await rpc.end();
  } finally {
    rpc.kill();
  }
}

/** The files in the tree: what is written down beside them is what pi says, and our process agrees. */
async function fixturesHere(world, folder) {
  const cwd = join(folder, "app");
  mkdirSync(cwd, { recursive: true });
  for (const group of [`pi-${PI_VERSION}`, "old"]) {
    for (const name of readdirSync(join(FIXTURES, group)).filter((path) => path.endsWith(".jsonl"))) {
      const original = join(FIXTURES, group, name);
      const written = JSON.parse(readFileSync(original.replace(/\.jsonl$/, ".expected.json"), "utf8"));
      const { entryIds, labels: _inTheTree, ...expected } = written;
      const view = piView(world.SessionManager, original, folder);
      same(`${group}/${name} as it is written down`, expected, view);
      if (entryIds) same(`${group}/${name} as it is written down`, { entryIds }, { entryIds: idsOf(view) });
      const file = join(folder, name);
      writeFileSync(file, readFileSync(original, "utf8").replace('"/home/me/app"', JSON.stringify(cwd)));
      await opened(`${group}/${name}`, world, folder, file);
    }
  }
}

const idsOf = ({ entries }) => entries.map(({ id }) => id);

/** What the real program writes today, next to what it says itself. */
async function piFilesHere(world, folder) {
  const settings = { ...SETTINGS, defaultProvider: "mock", defaultModel: "mock-1", defaultThinkingLevel: "medium" };
  const pi = startAgent({ cli: world.cli, folder, port: world.port, settings, doneType: "agent_end" });
  const live = [];
  const look = async () => {
    const { sessionFile, sessionName = null, model, thinkingLevel } = await pi.call({ type: "get_state" });
    const { messages } = await pi.call({ type: "get_messages" });
    // The process goes on with the file, so what it says now is compared with the file as it is now.
    const file = join(folder, `pi-${live.length}.jsonl`);
    copyFileSync(sessionFile, file);
    const said = {
      name: sessionName,
      model: { provider: model.provider, modelId: model.id },
      thinkingLevel,
      messages,
    };
    live.push({ file, said });
  };
  try {
    await pi.prompt("Count. calls=2 run=echo_one");
    await look();
    await pi.call({ type: "set_thinking_level", level: "high" });
    await pi.call({ type: "bash", command: "echo from the shell" });
    await pi.call({ type: "set_model", provider: "mock", modelId: "mock-2" });
    await pi.call({ type: "set_session_name", name: "counting" });
    await pi.prompt("What is this? deltas=5", { images: IMAGES });
    await pi.abortedPrompt("Go on for long. deltas=500 by=1 every=20", "message_update");
    await look();
    await pi.call({ type: "compact" });
    await look();
    await pi.prompt("And then? deltas=4");
    await look();
    const { messages } = await pi.call({ type: "get_fork_messages" });
    await pi.call({ type: "clone" });
    await pi.prompt("In the copy. deltas=2");
    await look();
    await pi.call({ type: "fork", entryId: messages[1].entryId });
    await pi.prompt("Otherwise. deltas=2");
    await look();
    await pi.end();
  } finally {
    pi.kill();
  }
  for (const [at, { file, said }] of live.entries()) {
    same(`pi's own file ${at} in its own words`, said, piView(world.SessionManager, file, folder));
    await opened(`pi's own file ${at}`, world, folder, file);
  }
}

async function main() {
  if (CLI === cliPath) ensure();
  const given = process.argv.indexOf("--pi");
  const folder = mkdtempSync(join(tmpdir(), "tiller-compat-"));
  const mock = await startMock();
  try {
    const installed = given < 0 ? join(folder, "pi") : process.argv[given + 1];
    if (given < 0) install(installed);
    const world = { ...(await loadPi(installed, folder)), port: mock.port };
    await ourFilesInPi(world, join(folder, "ours"));
    same("the stories", { untold: [] }, { untold: MUST_BE_SEEN.filter((kind) => !seen.has(kind)) });
    await fixturesHere(world, join(folder, "fixtures"));
    await piFilesHere(world, join(folder, "pis"));
  } finally {
    await mock.close();
    rmSync(folder, { recursive: true, force: true });
  }
  const { failures, checks } = comparison;
  for (const failure of failures) process.stderr.write(`${failure}\n\n`);
  process.stdout.write(`${checks} comparisons with pi ${PI_VERSION}, ${failures.length} differences\n`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

main().catch((error) => {
  process.stderr.write(`compat-pi: ${error.message}\n`);
  process.exitCode = 1;
});
