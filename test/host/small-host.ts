import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";

/**
 * A host as somebody would write it who has read docs/protocol.md and nothing else: it shares no code with the program or
 * with the other tests. It lends tools, seeds the plan, says which tool calls may run, waits for what it asked, and can
 * drop dead at any moment.
 */

export type Json = Record<string, unknown>;
export type HostTool = {
  description: string;
  parameters: Json;
  run(args: Json, progress: (text: string) => void): Promise<string>;
};

export interface SmallHostOptions {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  tools: Readonly<Record<string, HostTool>>;
  /** Milliseconds that the host dawdles before it answers a call or a question. */
  delay(): number;
  /** What is answered to the question about a tool call; undefined: nothing, ever. */
  approve(question: string): string | undefined;
}

export class SmallHost {
  /** Every frame that came, for whoever wants to look. */
  readonly frames: Json[] = [];
  readonly exitCode: Promise<number | null>;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly options: SmallHostOptions;
  private readonly waiting = new Map<string, (response: Json) => void>();
  private readonly results = new Map<string, (result: Json) => void>();
  private readonly cancelled = new Set<unknown>();
  private rest = "";
  private lastId = 0;
  private isDead = false;
  private die: (reason: Error) => void = () => undefined;
  private readonly death: Promise<never>;

  constructor(options: SmallHostOptions) {
    this.options = options;
    this.death = new Promise((_resolve, reject) => {
      this.die = reject;
    });
    this.death.catch(() => undefined);
    const args = [options.program, "--mode", "rpc", ...options.args];
    this.child = spawn(process.execPath, args, { cwd: options.cwd, env: options.env });
    this.child.stdout.setEncoding("utf8").on("data", (chunk: string) => this.read(chunk));
    this.child.stderr.resume();
    this.child.stdin.on("error", () => undefined);
    this.exitCode = new Promise((resolve) => {
      this.child.on("exit", (code) => {
        this.die(new Error(`the agent ended with ${code}`));
        resolve(code);
      });
    });
  }

  /** What every start needs: the tools, and the plan unless the session has one. Gives back the plan. */
  async begin(plan: readonly Json[]): Promise<unknown> {
    const tools = Object.entries(this.options.tools).map(([name, { description, parameters }]) => ({
      name,
      description,
      parameters,
    }));
    const lent = await this.ask({ type: "set_host_tools", tools });
    if (JSON.stringify(lent.toolNames) !== JSON.stringify(Object.keys(this.options.tools))) {
      throw new Error(`lent ${JSON.stringify(lent)}`);
    }
    const { todoPhases } = await this.ask({ type: "get_state" });
    if (Array.isArray(todoPhases) && todoPhases.length > 0) return todoPhases;
    await this.ask({ type: "set_todos", phases: plan });
    return undefined;
  }

  /** The data of the answer. */
  async ask(command: Json): Promise<Json> {
    const id = this.nextId();
    const response = await this.orDeath(
      new Promise<Json>((resolve) => {
        this.waiting.set(id, resolve);
        this.send({ id, ...command });
      }),
    );
    if (response.success !== true) throw new Error(`${command.type}: ${response.error}`);
    return (response.data ?? {}) as Json;
  }

  /** Resolves to the `prompt_result`. */
  async prompt(message: string): Promise<Json> {
    const id = this.nextId();
    const result = new Promise<Json>((resolve) => {
      this.results.set(id, resolve);
    });
    this.send({ id, type: "prompt", message });
    return this.orDeath(result);
  }

  /** The host is gone from one moment to the next; the agent has to see to itself. */
  crash(): void {
    this.isDead = true;
    this.child.stdin.destroy();
    this.child.stdout.destroy();
    this.die(new Error("the host has crashed"));
  }

  /** A decent end. */
  close(): void {
    this.child.stdin.end();
  }

  kill(): void {
    this.child.kill("SIGKILL");
  }

  private orDeath<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.death]);
  }

  private nextId(): string {
    this.lastId += 1;
    return `small-${this.lastId}`;
  }

  private send(frame: Json): void {
    if (!this.isDead) this.child.stdin.write(`${JSON.stringify(frame)}\n`);
  }

  private read(chunk: string): void {
    const lines = (this.rest + chunk).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.take(JSON.parse(line) as Json);
  }

  private take(frame: Json): void {
    this.frames.push(frame);
    const id = String(frame.id);
    if (frame.type === "response") this.waiting.get(id)?.(frame);
    if (frame.type === "prompt_result") this.results.get(id)?.(frame);
    if (frame.type === "host_tool_cancel") this.cancelled.add(frame.targetId);
    if (frame.type === "host_tool_call") void this.serve(frame);
    if (frame.type === "extension_ui_request") {
      if (frame.method === "cancel") this.cancelled.add(frame.targetId);
      if (String(frame.title).startsWith("Allow tool: ")) void this.decide(frame);
    }
  }

  private async decide({ id, title, options }: Json): Promise<void> {
    const value = this.options.approve(String(title));
    if (value === undefined) return;
    if (!(options as string[]).includes(value)) throw new Error(`"${value}" is not on offer: ${options}`);
    await new Promise((resolve) => setTimeout(resolve, this.options.delay()));
    if (!this.cancelled.has(id)) this.send({ type: "extension_ui_response", id, value });
  }

  private async serve({ id, toolName, arguments: args }: Json): Promise<void> {
    const tell = (text: string): void =>
      this.send({ type: "host_tool_update", id, partialResult: { content: [{ type: "text", text }] } });
    await new Promise((resolve) => setTimeout(resolve, this.options.delay()));
    const answer = await this.options.tools[String(toolName)]!.run(args as Json, tell).then(
      (text) => ({ text, isError: false }),
      (error: Error) => ({ text: error.message, isError: true }),
    );
    if (this.cancelled.has(id)) return;
    const result = { content: [{ type: "text", text: answer.text }] };
    this.send({ type: "host_tool_result", id, result, isError: answer.isError });
  }
}
