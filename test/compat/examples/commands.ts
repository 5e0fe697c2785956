import { readFileSync, writeFileSync } from "node:fs";
import { at, list } from "../../support/frame.ts";
import { say } from "../../support/mock-llm.ts";
import { type Checks, check, expectText, expectTrue, forTerminal, part } from "../check.ts";

/** Examples that bring commands: run, and what they show and ask is seen and answered. */

export const COMMAND_EXAMPLES: Checks = {
  "rpc-demo.ts": check(
    "every dialog of the protocol: input, editor, select and confirm answered, status, widget and editor text seen",
    { settings: { "rpc.emitTitle": true }, script: ['toolCall bash {"command":"rm -rf nothing"}', 'text "Done."'] },
    async (host) => {
      await host.widget("Loaded and ready.");
      await host.ui("setTitle", "pi RPC Demo");
      host.send("prompt", { message: "/rpc-input" });
      await host.answer("input", "Enter a value", "seven");
      await host.notify("You entered: seven");
      host.send("prompt", { message: "/rpc-editor" });
      await host.answer("editor", "Edit some text", "a\nb");
      await host.notify("Editor submitted (2 lines)");
      await host.prompt("/rpc-prefill");
      await host.ui("set_editor_text", "This text was set by the rpc-demo extension.");
      host.send("prompt", { message: "clean up" });
      await host.answer("select", "Dangerous command: rm -rf nothing", "Block");
      await host.next("the end", (frame) => frame.type === "session_settled");
      expectText("bash", host.result("bash").text, "Blocked by user");
      host.send("new_session");
      await host.answer("confirm", "Clear session?", false);
      expectTrue("the session stays", (await host.answered("new_session")).cancelled === true, "");
      await host.status("Turn 2 done");
    },
  ),
  "timed-confirm.ts": check(
    "a dialog is answered in time; another closes by itself after the 5 seconds it gives",
    {},
    async (host) => {
      host.send("prompt", { message: "/timed" });
      const asked = await host.answer("confirm", "Timed Confirmation", true);
      expectTrue("the host knows the time", asked.timeout === 5000, asked);
      await host.notify("Confirmed by user!");
      host.send("prompt", { message: "/timed-select" });
      await host.answer("select", "Pick an option", "Option B");
      await host.notify("Selected: Option B");
      await host.prompt("/timed-signal");
      await host.notify("Dialog timed out (auto-cancelled)");
    },
  ),
  "commands.ts": check(
    "`/commands` shows what `pi.getCommands()` knows: a selection, then a question, then the path",
    { agentFiles: { "prompts/review.md": "Review it." } },
    async (host, path) => {
      host.send("prompt", { message: "/commands" });
      const asked = await host.answer("select", "Available Commands", "/commands - List available slash commands");
      expectTrue("all kinds", list(asked.options).join("|").includes("--- Prompts ---|/review"), asked.options);
      await host.answer("confirm", "commands", true);
      await host.notify(path);
    },
  ),
  "bookmark.ts": check(
    "`/bookmark` labels the last answer in the session file, `/unbookmark` takes the label away",
    { script: ['text "Land ahoy."'] },
    async (host) => {
      await host.prompt("/bookmark nothing");
      await host.notify("No assistant message to bookmark");
      await host.prompt("look out");
      await host.prompt("/bookmark land");
      await host.notify("Bookmarked as: land");
      await host.prompt("/unbookmark");
      await host.notify("Removed bookmark: land");
      const labels = (await host.entries())
        .filter((entry) => entry.type === "label")
        .map((entry) => entry.label ?? null);
      expectTrue("two label entries", JSON.stringify(labels) === '["land",null]', labels);
    },
  ),
  "session-name.ts": check("`/session-name` names the session, and tells the name", {}, async (host) => {
    await host.prompt("/session-name");
    await host.notify("No session name set");
    await host.prompt("/session-name the voyage");
    expectTrue("the state has it", (await host.call("get_state")).sessionName === "the voyage", "");
    await host.prompt("/session-name");
    await host.notify("Session: the voyage");
  }),
  "send-user-message.ts": check(
    "`/ask` starts a run, `/steer` reaches one that goes on, `/followup` comes after it",
    { script: ['text "slow " times 40 pace 25', 'text "steered"', 'text "followed"', 'text "asked"'] },
    async (host) => {
      host.send("prompt", { message: "begin" });
      await host.next("an answer", (frame) => frame.type === "message_update");
      await host.rpc.call({ type: "prompt", message: "/followup and then this" });
      await host.notify("Follow-up queued");
      await host.rpc.call({ type: "prompt", message: "/steer this way" });
      await host.next("the end", (frame) => frame.type === "session_settled");
      await host.rpc.call({ type: "prompt", message: "/ask why" });
      await host.next("the end", (frame) => frame.type === "agent_end");
      const users = (await host.entries()).filter((entry) => at(entry, "message", "role") === "user");
      const texts = users.map((entry) => JSON.stringify(at(entry, "message", "content")));
      const order = ["begin", "this way", "and then this", "why"];
      expectTrue(
        "the order",
        order.every((text, i) => texts[i]?.includes(text)),
        texts,
      );
    },
  ),
  "message-renderer.ts": check(
    "`/status` puts a message of its own kind into the session; the model sees it with the next prompt",
    { replies: [say("Understood.")] },
    async (host) => {
      await host.prompt("/status warn the wind turns");
      const entry = (await host.entries()).find((one) => one.customType === "status-update");
      expectTrue("the entry", entry?.content === "the wind turns" && at(entry, "details", "level") === "warn", entry);
      await host.prompt("go on");
      expectText("the request", host.request(0), "the wind turns");
    },
  ),
  "entry-renderer.ts": check(
    "`/status-card` writes an entry that the model never sees",
    { replies: [say("Fine.")] },
    async (host) => {
      await host.prompt("/status-card all well");
      const entry = (await host.entries()).find((one) => one.customType === "status-card");
      expectTrue("the entry", entry?.type === "custom" && at(entry, "data", "message") === "all well", entry);
      await host.prompt("go on");
      expectTrue("nothing for the model", !host.request(0).includes("all well"), host.request(0));
    },
  ),
  "event-bus.ts": check("what `/emit` puts on the bus comes back as a notification", {}, async (host) => {
    await host.notify("Event from event-bus-example: Session started");
    await host.prompt("/emit ahoy");
    await host.notify("Event from /emit command: ahoy");
  }),
  "pirate.ts": check(
    "`/pirate` changes the system prompt that the model gets, and changes it back",
    { replies: [say("Arrr."), say("Yes.")] },
    async (host) => {
      await host.prompt("/pirate");
      await host.notify("Arrr! Pirate mode enabled!");
      await host.prompt("hello");
      expectText("the system prompt", host.request(0), "You are now in PIRATE MODE");
      await host.prompt("/pirate");
      await host.prompt("hello");
      expectTrue("no longer", !host.request(1).includes("PIRATE MODE"), host.request(1));
    },
  ),
  "preset.ts": check(
    "`--preset` and `/preset` set level, tools and instructions; the choice is kept in the session",
    {
      agentFiles: {
        "presets.json": JSON.stringify({
          look: { tools: ["read", "ls"], thinkingLevel: "low", instructions: "Only look." },
          all: { tools: ["read", "bash"], thinkingLevel: "high" },
        }),
      },
      args: ["--preset", "look"],
      replies: [say("Looking.")],
    },
    async (host) => {
      await host.notify('Preset "look" activated');
      await host.status("preset:look");
      await host.prompt("look");
      expectText("the system prompt", host.request(0), "Only look.");
      expectTrue("the tools", !host.request(0).includes('"name":"bash"'), host.request(0));
      expectTrue("the level", (await host.call("get_state")).thinkingLevel === "low", await host.call("get_state"));
      expectTrue(
        "the entry",
        (await host.entries()).some((entry) => entry.customType === "preset-state"),
        "",
      );
      await host.prompt("/preset all");
      expectTrue("the other level", (await host.call("get_state")).thinkingLevel === "high", "");
    },
  ),
  "plan-mode": check(
    "`/plan` keeps the model from writing and blocks commands; the plan is asked about, carried out and tracked",
    {
      script: [
        'toolCall bash {"command":"touch made"}',
        'text "Plan:\\n1. Inspect the old harbour\\n2. Repair the broken mast\\n"',
        'text "Both done. [DONE:1] [DONE:2]"',
      ],
    },
    async (host) => {
      await host.prompt("/plan");
      await host.notify("Plan mode enabled");
      host.send("prompt", { message: "make a plan" });
      await host.answer("select", "Plan mode - what next?", "Execute the plan (track progress)");
      expectText("bash", host.result("bash").text, "Plan mode: command blocked");
      await host.seen("the plan as a message", (frame) => at(frame, "message", "customType") === "plan-mode-execute");
      await host.next("the end", (frame) => at(frame, "message", "customType") === "plan-complete");
      await host.widget(/Repair the broken mast|broken mast/i);
    },
  ),
  "reload-runtime.ts": check(
    "`/reload-runtime` reads the extension again: a changed description is listed",
    {},
    async (host, path) => {
      const source = readFileSync(path, "utf8");
      try {
        writeFileSync(
          path,
          source.replace('description: "Reload extensions', 'description: "Renewed: reload extensions'),
        );
        await host.prompt("/reload-runtime");
        const { commands } = await host.call("get_commands");
        expectText("the description", JSON.stringify(commands), "Renewed: reload extensions");
      } finally {
        writeFileSync(path, source);
      }
    },
  ),
  "trigger-compact.ts": check(
    "`/trigger-compact` compacts the session and hears that it is done",
    {
      settings: { compaction: { keepRecentTokens: 1 } },
      script: [
        'text "A long story. " times 40',
        'text "Another one. " times 40',
        'text "A summary."',
        'text "A summary."',
      ],
    },
    async (host) => {
      await host.prompt("tell");
      await host.prompt("again");
      await host.prompt("/trigger-compact the essentials");
      await host.notify("Compaction completed");
      expectTrue(
        "the entry",
        (await host.entries()).some((entry) => entry.type === "compaction"),
        "",
      );
    },
  ),
  "summarize.ts": part(
    "`/summarize` asks another provider's model about the conversation; what it shows needs a terminal",
    {
      replies: [say("Land ahoy."), say("They saw land.")],
      insteadOf: { openai: "openai-responses" },
    },
    async (host) => {
      await host.prompt("/summarize");
      await host.notify("No conversation text found");
      await host.prompt("what do you see");
      await host.prompt("/summarize");
      await host.notify("Preparing summary...");
      expectText("the path", host.mock?.requests.at(1)?.path ?? "", "/responses");
      expectText("the request", host.request(1), "Assistant: Land ahoy.");
    },
  ),
  "handoff.ts": forTerminal(
    "`/handoff` makes a new session (0.73) or says that it needs a terminal (later)",
    {},
    async (host) => {
      await host.prompt("hello");
      host.send("prompt", { message: "/handoff sail on" });
      const isEnd = (frame: { type?: string; method?: unknown; message?: unknown }): boolean =>
        frame.method === "editor" || /interactive mode/.test(String(frame.message));
      const first = await host.next("the editor", isEnd);
      if (first.method !== "editor") return;
      host.rpc.send({ type: "extension_ui_response", id: first.id, value: "Sail on to the north." });
      await host.ui("set_editor_text", "Sail on to the north.");
      await host.notify("Handoff ready. Submit when ready.");
      expectTrue("a new session", (await host.call("get_state")).messageCount === 0, await host.call("get_state"));
    },
  ),
  "working-indicator.ts": forTerminal(
    "`/working-indicator` sets its mode and the status; the indicator itself needs a terminal",
    {},
    async (host) => {
      await host.notice("ctx.ui.setWorkingIndicator() needs a terminal");
      await host.prompt("/working-indicator dot");
      await host.notify("Working indicator set to: static dot");
      await host.status("Indicator: static dot");
    },
  ),
  "hidden-thinking-label.ts": forTerminal(
    "`/thinking-label` sets its label; the label itself needs a terminal",
    {},
    async (host) => {
      await host.notice("ctx.ui.setHiddenThinkingLabel() needs a terminal");
      await host.prompt("/thinking-label Hm");
      await host.notify("Hidden thinking label set to: Hm");
    },
  ),
  "custom-footer.ts": forTerminal("`/footer` goes on and off; the footer itself needs a terminal", {}, async (host) => {
    await host.prompt("/footer");
    await host.notify("Custom footer enabled");
    await host.notice("ctx.ui.setFooter() needs a terminal");
    await host.prompt("/footer");
    await host.notify("Default footer restored");
  }),
  "custom-header.ts": forTerminal(
    "`/builtin-header` puts the header back; the header itself needs a terminal",
    {},
    async (host) => {
      await host.prompt("/builtin-header");
      await host.notify("Built-in header restored");
    },
  ),
};
