import type { ThinkingLevel } from "@tiller/protocol/plain-types.generated";
import type { RpcClient } from "../client/rpc-client.ts";
import { renderTodos } from "./render.ts";
import { brief, harmless, type Style } from "./style.ts";

/** What a person can ask the chat itself with a slash. Any other command goes to the agent, which has its own. */
export interface ChatCommand {
  usage: string;
  summary: string;
  /** Lines to show; `"quit"` to leave. */
  run(client: RpcClient, rest: string, style: Style): Promise<string[] | "quit">;
}

export const CHAT_COMMANDS: Readonly<Record<string, ChatCommand>> = {
  help: {
    usage: "/help",
    summary: "this list",
    run: async (client, _, style) => [...helpLines(), ...(await agentCommands(client, style))],
  },
  model: {
    usage: "/model [PROVIDER/ID]",
    summary: "show or choose the model",
    run: async (client, rest) => {
      if (rest === "") return [modelName((await client.getState()).model)];
      const slash = rest.indexOf("/");
      const found =
        slash > 0 ? { provider: rest.slice(0, slash), id: rest.slice(slash + 1) } : await modelNamed(client, rest);
      if (!found) return [`no model has "${rest}" in its name; /models lists them`];
      return [modelName(await client.setModel(found.provider, found.id))];
    },
  },
  models: {
    usage: "/models [TEXT]",
    summary: "list the models that can be used",
    run: async (client, rest) => {
      const names = (await client.getAvailableModels()).map(modelName).filter((name) => name.includes(rest));
      return names.length > 0 ? names : ["none"];
    },
  },
  thinking: {
    usage: "/thinking [LEVEL]",
    summary: "show or choose how much the model thinks",
    run: async (client, rest) => {
      if (rest !== "") await client.setThinkingLevel(rest as ThinkingLevel);
      return [(await client.getState()).thinkingLevel];
    },
  },
  todos: {
    usage: "/todos",
    summary: "show the plan",
    run: async (client, _, style) => {
      const lines = renderTodos((await client.getState()).todoPhases ?? [], style);
      return lines.length > 0 ? lines : ["there is no plan"];
    },
  },
  new: {
    usage: "/new",
    summary: "begin another session",
    run: async (client) => [(await client.newSession()).cancelled ? "an extension said no" : "a new session"],
  },
  name: {
    usage: "/name TEXT",
    summary: "name the session",
    run: async (client, rest) => {
      await client.setSessionName(rest);
      return [];
    },
  },
  compact: {
    usage: "/compact [WHAT MATTERS]",
    summary: "make room in the conversation",
    run: async (client, rest) => {
      await client.compact(rest === "" ? undefined : rest);
      return ["done"];
    },
  },
  state: {
    usage: "/state",
    summary: "model, session and what it has cost",
    run: async (client) => {
      const [state, stats] = await Promise.all([client.getState(), client.getSessionStats()]);
      return [
        `model    ${modelName(state.model)}, thinking ${state.thinkingLevel}`,
        `session  ${harmless(state.sessionFile ?? "in memory")}`,
        `so far   ${stats.totalMessages} messages, ${stats.tokens.total} tokens, $${stats.cost.toFixed(4)}`,
      ];
    },
  },
  quit: { usage: "/quit", summary: "leave; so does Ctrl-D", run: async () => "quit" },
  exit: { usage: "/exit", summary: "the same", run: async () => "quit" },
};

/** `/model x` as a command of the chat and what stands behind it; undefined for everything else. */
export function chatCommand(line: string): { command: ChatCommand; rest: string } | undefined {
  const [, name = "", rest = ""] = /^\/(\w+)\s*(.*)$/s.exec(line) ?? [];
  const command = Object.hasOwn(CHAT_COMMANDS, name) ? CHAT_COMMANDS[name] : undefined;
  return command && { command, rest: rest.trim() };
}

export function helpLines(): string[] {
  const rows = Object.values(CHAT_COMMANDS);
  const width = Math.max(...rows.map(({ usage }) => usage.length));
  return [
    ...rows.map(({ usage, summary }) => `${usage.padEnd(width)}  ${summary}`),
    `${"!COMMAND".padEnd(width)}  run a shell command; the model hears of it with the next prompt`,
    `${"TEXT".padEnd(width)}  a prompt; while one is answered it changes the course. Ctrl-C ends it, and twice the chat`,
  ];
}

async function agentCommands(client: RpcClient, style: Style): Promise<string[]> {
  const commands = await client.getCommands();
  if (commands.length === 0) return [];
  return [
    "",
    ...commands.map(({ name, description = "" }) => `/${harmless(name)}  ${style.dim(brief(description, 80))}`),
  ];
}

type Named = { provider: string; id: string };

export function modelName(model: Named | null | undefined): string {
  return model ? harmless(`${model.provider}/${model.id}`) : "none";
}

async function modelNamed(client: RpcClient, text: string): Promise<Named | undefined> {
  const models = await client.getAvailableModels();
  return models.find(({ id }) => id === text) ?? models.find((model) => modelName(model).includes(text));
}
