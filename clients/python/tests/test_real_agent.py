"""The clients against the real agent, which plays a script in the place of a model: a whole story in one process each."""

import asyncio
import threading
import unittest

from support import AGENT, WithFolder

from tiller_rpc import AsyncTillerClient, CommandError, HostTool, HostUri, PromptError, RequestTimeoutError, TillerClient
from tiller_rpc.compat import RpcClient

EXTENSION = """
export default function (pi) {
  pi.registerCommand("ask", {
    description: "asks all it can",
    handler: async (args, ctx) => {
      const sure = await ctx.ui.confirm("Sure?", "It is not empty.");
      const branch = await ctx.ui.select("Which?", ["main", "next"]);
      const name = await ctx.ui.input("Name", "...");
      ctx.ui.notify(JSON.stringify([sure, branch, name ?? null]), "info");
    },
  });
}
"""
PARAMETERS = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
TALKATIVE = [{"thinking": "hm, let me see", "chunk": 3}, {"text": "One two three.", "chunk": 2}]


def call(name, **arguments):
    return {"toolCall": {"name": name, "arguments": arguments}, "chunk": 4}


def story():
    """What the model says, call by call."""
    return {
        "turns": [
            [*TALKATIVE, call("open_ticket", title="Build is red"), call("broken", title="x")],
            "Both were tried.",
            [call("read", path="db://orders/7")],
            [call("write", path="db://orders/7", content="paid")],
            "Order 7 is paid.",
            {"endless": "tick ", "pace": 5},
            {"endless": "tick ", "pace": 5},
            {"error": {"status": 401, "message": "bad key"}},
            "Still here.",
        ]
    }


def reply_to(request):
    return {"confirm": True, "select": "next", "input": None}[request["method"]]


class TheRealAgent(WithFolder):
    def test_a_whole_story(self):
        orders = {"db://orders/7": "open"}
        seen, threads = [], []

        def open_ticket(arguments, call):
            threads.append(threading.current_thread())
            call.update("asking ...")
            # A callback may use the client.
            return f"ticket 7 for {arguments['title']}, streaming: {client.get_state()['isStreaming']}"

        tools = [
            HostTool("open_ticket", "opens a ticket", PARAMETERS, open_ticket),
            HostTool("broken", "never works", PARAMETERS, lambda arguments, call: 1 / 0),
        ]
        uris = [HostUri("db", orders.__getitem__, orders.__setitem__, description="the orders")]
        extension = ["--extension", self.write("ask.js", EXTENSION)]
        client = TillerClient(AGENT, tools=tools, uris=uris, on_dialog=reply_to, **self.options(story(), *extension))
        with client:
            self.assertEqual((client.ready_frame["dialect"], client.is_running), ("union", True))
            end_listening = client.on_event(lambda event: seen.append(event["type"]))
            self.tools_and_messages(client)
            self.assertNotIn(threading.current_thread(), threads)
            self.assertEqual(client.ask("pay"), "Order 7 is paid.")
            self.assertEqual(orders, {"db://orders/7": "paid"})
            self.dialogs(client)
            self.aborts(client)
            self.failures(client)
            self.assertIn("prompt_result", seen)
            end_listening()
            self.assertTrue(client.get_state()["isSettled"])
        self.assertFalse(client.is_running)
        client.close()

    def tools_and_messages(self, client):
        run, ends, growing, thin = client.run("go"), [], [], True
        for event in run:
            if event["type"] == "message_update":
                thin = thin and event["message"]["content"] == []
                if event["assistantMessageEvent"]["type"] != "done":
                    growing.append(run.message)
            if event["type"] == "message_end" and event["message"]["role"] == "assistant":
                ends.append(event["message"])
                # What was put together from the pieces is what the agent tells at the end.
                self.assertEqual(growing[-1]["content"], event["message"]["content"])
            if event["type"] == "tool_execution_end" and event["toolName"] == "open_ticket":
                self.assertEqual(event["result"]["content"][0]["text"], "ticket 7 for Build is red, streaming: True")
            if event["type"] == "tool_execution_end" and event["toolName"] == "broken":
                self.assertEqual((event["isError"], event["result"]["content"][0]["text"]), (True, "division by zero"))
            if event["type"] == "tool_execution_update":
                self.assertEqual(event["partialResult"]["content"][0]["text"], "asking ...")
        self.assertTrue(thin)
        self.assertEqual([block["type"] for block in ends[0]["content"]], ["thinking", "text", "toolCall", "toolCall"])
        texts = [block.get("text") for message in growing for block in message["content"]]
        self.assertIn("One tw", texts)
        self.assertEqual((run.text, run.result["status"], run.wait()["toolCalls"]), ("Both were tried.", "completed", 2))

    def dialogs(self, client):
        with client.events() as events:
            self.assertEqual(client.prompt("/ask")["disposition"], "handled")
            notes = (event for event in events if event.get("method") == "notify")
            self.assertEqual(next(notes)["message"], '[true,"next",null]')
        client.wait_for_idle(10)

    def aborts(self, client):
        run = client.run("tick")
        for event in run:
            if event.get("assistantMessageEvent", {}).get("type") == "text_delta":
                break
        client.abort()
        self.assertEqual(run.wait()["status"], "aborted")
        with self.assertRaisesRegex(RequestTimeoutError, "the prompt to end"):
            client.run("tick", timeout=0.2).wait()
        client.wait_for_idle(10)

    def failures(self, client):
        with self.assertRaisesRegex(PromptError, "ended as error: .*bad key"):
            client.ask("fail")
        with self.assertRaisesRegex(CommandError, "Model not found: acme/m1"):
            client.set_model("acme", "m1")
        self.assertEqual(client.request("bash", command="echo hi")["output"], "hi\n")
        self.assertEqual(client.ask("well?"), "Still here.")


class TheRealAgentInALoop(WithFolder, unittest.IsolatedAsyncioTestCase):
    async def test_a_whole_story(self):
        orders = {"db://orders/7": "open"}

        async def open_ticket(arguments, call):
            call.update("asking ...")
            state = await client.get_state()
            return f"ticket 7 for {arguments['title']}, streaming: {state['isStreaming']}"

        async def answer(request):
            return reply_to(request)

        tools = [
            HostTool("open_ticket", "opens a ticket", PARAMETERS, open_ticket),
            HostTool("broken", "never works", PARAMETERS, lambda arguments, call: 1 / 0),
        ]
        uris = [HostUri("db", orders.__getitem__, orders.__setitem__)]
        extension = ["--extension", self.write("ask.js", EXTENSION)]
        async with AsyncTillerClient(
            AGENT, tools=tools, uris=uris, on_dialog=answer, **self.options(story(), *extension)
        ) as client:
            run, results = client.run("go"), []
            async for event in run:
                if event["type"] == "tool_execution_end":
                    results.append(event["result"]["content"][0]["text"])
                if event["type"] == "message_end" and event["message"]["role"] == "assistant":
                    self.assertEqual(run.message, event["message"])
            self.assertEqual(sorted(results), ["division by zero", "ticket 7 for Build is red, streaming: True"])
            self.assertEqual((run.text, run.result["status"]), ("Both were tried.", "completed"))
            self.assertEqual(await client.ask("pay"), "Order 7 is paid.")
            self.assertEqual(orders, {"db://orders/7": "paid"})
            with client.events() as events:
                await client.prompt("/ask")
                async for event in events:
                    if event.get("method") == "notify":
                        break
                self.assertEqual(event["message"], '[true,"next",null]')
            await client.wait_for_idle(10)
            await self.aborts(client)
            with self.assertRaisesRegex(PromptError, "bad key"):
                await client.ask("fail")
            with self.assertRaisesRegex(CommandError, "Model not found: acme/m1"):
                await client.set_model("acme", "m1")
            # Many at once, each with its own answer.
            answers = await asyncio.gather(*(client.request("bash", command=f"echo {n}") for n in range(5)))
            self.assertEqual([answer["output"] for answer in answers], [f"{n}\n" for n in range(5)])
            self.assertEqual(await client.ask("well?"), "Still here.")
        await client.close()

    async def aborts(self, client):
        run = client.run("tick")
        async for event in run:
            if event.get("assistantMessageEvent", {}).get("type") == "text_delta":
                await run.abort()
        self.assertEqual(run.result["status"], "aborted")
        with client.events() as events:
            task = asyncio.ensure_future(client.run("tick").wait())
            while (await events.next(10))["type"] != "message_update":
                pass
            # Whoever cancels his task has aborted the prompt.
            task.cancel()
            while (event := await events.next(10))["type"] != "prompt_result":
                pass
            self.assertEqual(event["status"], "aborted")
        await client.wait_for_idle(10)


class TheCompatibleClient(WithFolder):
    """A program that was written for the Python client of xcsh."""

    def test_a_whole_story(self):
        script = {"turns": [[call("open_ticket", title="x")], "Done.", {"error": {"status": 401, "message": "bad key"}}]}
        options = self.options(script, "--dialect", "xcsh", "--extension", self.write("ask.js", EXTENSION))
        tool = {
            "name": "open_ticket",
            "description": "opens a ticket",
            "parameters": PARAMETERS,
            "execute": lambda arguments, call: f"ticket for {arguments['title']}",
        }
        client = RpcClient(command=AGENT, cwd=options["cwd"], env=options["env"], extra_args=options["args"])
        unknown = []
        client.on_unknown_notification(lambda event: unknown.append(event.type))
        with client:
            client.set_custom_tools([tool])
            state = client.get_state()
            self.assertEqual((state.is_streaming, state.message_count, state["interruptMode"]), (False, 0, "wait"))
            turn = client.prompt_and_wait("go")
            self.assertEqual((turn.assistant_text, turn.events[-1].type), ("Done.", "prompt_result"))
            self.assertEqual([message.role for message in client.get_messages()], ["user", "assistant", "toolResult", "assistant"])
            self.assertEqual(client.get_last_assistant_text(), "Done.")
            self.plan(client)
            self.dialogs(client)
            with self.assertRaisesRegex(PromptError, "bad key"):
                client.prompt_and_wait("fail")
            self.assertEqual(client.request_raw({"type": "bash", "command": "echo hi"}).output, "hi\n")
            self.assertTrue(client.request_raw("get_state").session_id)
            self.assertIn("prompt_result", unknown)
            self.assertIn("agent_end", [event.type for event in client.event_history])
        client.stop()

    def plan(self, client):
        phases = client.set_todos([{"name": "Build", "tasks": ["find the step", "mend it"]}])
        self.assertEqual([task.id for task in phases[0].tasks], ["task-1", "task-2"])
        self.assertEqual(client.get_todos()[0].tasks[1].content, "mend it")
        self.assertEqual((client.clear_todos(), client.get_todos()), ([], []))

    def dialogs(self, client):
        client.prompt("/ask")
        client.send_ui_confirmation(client.next_ui_request(10), True)
        client.send_ui_value(client.next_ui_request(10), "main")
        client.cancel_ui_request(client.next_ui_request(10), timed_out=True)
        self.assertEqual(client.next_ui_request(10).message, '[true,"main",null]')
        client.install_headless_ui()
        client.prompt("/ask")
        self.assertEqual(client.next_ui_request(10).message, "[false,null,null]")


if __name__ == "__main__":
    unittest.main()
