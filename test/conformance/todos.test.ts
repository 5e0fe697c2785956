import { describe, expect, it } from "vitest";
import type { RpcProcess } from "../support/rpc-process.ts";
import { useRpc } from "../support/rpc-process.ts";
import { useAskedModel } from "./asked-model.ts";
import { PLAYED } from "./extension-stories.ts";
import { ofType, stateOf } from "./looking.ts";
import { proves } from "./proofs.ts";

/** The plan that host and model share, in every dialect. */

const plan = [
  {
    id: "phase-1",
    name: "Evaluation",
    tasks: [
      { id: "task-1", content: "Map the read tool surface", status: "in_progress" },
      { id: "task-2", content: "Exercise edit operations", status: "pending" },
    ],
  },
];
/** Decision 33: where the model has the tool without being given it, and is reminded therefore. */
const HAS_TOOL = new Set(["omp", "xcsh"]);

const start = useRpc();
const model = useAskedModel();

describe.each(PLAYED)("in the dialect %s", (dialect) => {
  const begin = (script: string[], ...args: string[]): RpcProcess =>
    start({ script, args: ["--no-session", "--dialect", dialect, ...args] });

  proves(
    ["xcsh.todos.command", "xcsh.todos.returns-phases", "xcsh.todos.replaces", "xcsh.todos.statuses"],
    "a host replaces the plan and reads it back",
    async () => {
      const rpc = begin(['text "hi"']);
      for (const phases of [[{ id: "old", name: "Old", tasks: [] }], plan]) {
        expect(await rpc.call({ id: "req_2", type: "set_todos", phases })).toEqual({
          id: "req_2",
          type: "response",
          command: "set_todos",
          success: true,
          data: { todoPhases: phases },
        });
      }
    },
  );

  proves("xcsh.state.todo-phases-content", "the state has the plan", async () => {
    const rpc = begin(['text "hi"']);
    await rpc.call({ type: "set_todos", phases: plan });
    expect((await stateOf(rpc)).todoPhases).toEqual(plan);
  });

  proves("omp.events.todo-reminder", "a model that has the tool and stops early is reminded", async () => {
    const rpc = begin(['text "done?"', 'text "done."'], "--set", "todo.reminders.max=1");
    await rpc.call({ type: "set_todos", phases: plan });
    await rpc.call({ type: "prompt", message: "go" });
    await rpc.waitFor("agent_settled");
    expect(ofType(rpc.frames, "todo_reminder")).toMatchObject(
      HAS_TOOL.has(dialect) ? [{ todos: plan[0]!.tasks, attempt: 1, maxAttempts: 1 }] : [],
    );
  });

  proves("xcsh.events.todo-auto-clear", "finished tasks go by themselves", async () => {
    const rpc = begin(['text "hi"'], "--set", "tasks.todoClearDelay=0");
    const phases = [{ name: "A", tasks: [{ content: "Rig", status: "completed" }] }];
    expect(await rpc.call({ type: "set_todos", phases })).toMatchObject({ success: true });
    await rpc.waitFor("todo_auto_clear");
  });
});

describe("what a model is really sent", () => {
  proves("xcsh.todos.before-first-prompt", "has the plan with the first prompt", async () => {
    const rpc = model.start({ args: ["--no-session"] });
    await rpc.call({ type: "set_todos", phases: plan });
    await rpc.prompt("go");
    expect(model.said()).toEqual(["go", expect.stringContaining("- [>] Map the read tool surface (task-1)")]);
    await rpc.prompt("go on");
    // Once: it stands in the conversation.
    expect(model.said().filter((said) => said.includes("Map the read tool surface"))).toHaveLength(1);
  });

  it("has the plan of a session that another process has left before the model heard of it", async () => {
    const first = model.start();
    await first.prompt("hello");
    const { sessionFile } = await stateOf(first);
    await first.call({ type: "set_todos", phases: plan });
    first.kill("SIGKILL");
    await first.waitExit();
    const env = { TILLER_DIR: first.sandbox.agentDir };
    const second = model.start({ env, args: ["--session", String(sessionFile)] });
    expect((await stateOf(second)).todoPhases).toEqual(plan);
    await second.prompt("go on");
    expect(model.said().at(-1)).toContain("- [ ] Exercise edit operations (task-2)");
  });
});
