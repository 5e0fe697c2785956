"""The parts that need no process."""

import ast
import asyncio
import base64
import json
import os
import threading
import time
import typing
import unittest
from concurrent.futures import Future

import support  # noqa: F401  (it makes the package importable)

from tiller_rpc import AsyncTillerClient, CommandError, EventOverflowError, HostTool, HostUri, MessageBuilder, TillerClient
from tiller_rpc import commands, types
from tiller_rpc.compat import Record, RpcClient, _with_ids
from tiller_rpc.errors import TillerError
from tiller_rpc.framing import ChunkJoiner, FrameReader, LineSplitter, TextTail, decode, encode, given
from tiller_rpc.hosting import Hosting, Job
from tiller_rpc.messages import partial_json
from tiller_rpc.options import Options
from tiller_rpc.router import Router, is_idle
from tiller_rpc.workers import Workers

SOURCES = os.path.join(support.HERE, "..", "src", "tiller_rpc")


class Framing(unittest.TestCase):
    def test_lines_are_the_same_wherever_the_stream_is_cut(self):
        text = '{"type":"a","x":"\u2028 \u00e9 \U0001f600"}\n\n{"type":"b"}\r\nrest'.encode()
        expected = text.split(b"\n")
        for size in range(1, len(text) + 1):
            splitter = LineSplitter()
            lines = [line for at in range(0, len(text), size) for line in splitter.feed(text[at : at + size])]
            self.assertEqual(lines + splitter.end(), expected)

    def test_a_line_that_is_too_long_is_left_out(self):
        splitter = LineSplitter(max_bytes=10)
        lines = [line for piece in (b"short\n" + b"x" * 8, b"x" * 8, b"x\nnext\n") for line in splitter.feed(piece)]
        self.assertEqual((lines, splitter.dropped), ([b"short", b"next"], 1))

    def test_what_is_no_frame_is_noise(self):
        for line in (b"", b"hello", b"null", b"[1]", b'{"a":1}', b'{"type":7}', b'{"type":', b"\xff", b"[" * 100_000):
            self.assertIsNone(decode(line), line)
        self.assertEqual(decode(b'{"type":"ready"}\r'), {"type": "ready"})

    def test_what_is_sent_is_one_line_of_ascii(self):
        text = "a\nb\u2028\ud800\u00e9"
        data = encode({"type": "prompt", "message": text})
        self.assertEqual((data.count(b"\n"), data.isascii()), (1, True))
        self.assertEqual(json.loads(data)["message"], text)
        for bad in (float("nan"), {1, 2}, object()):
            with self.assertRaisesRegex(TillerError, "prompt: this cannot be written as JSON"):
                encode({"type": "prompt", "message": bad})

    def test_frames_in_pieces(self):
        whole = {"type": "notice", "message": "caf\u00e9 " * 10}
        data = json.dumps(whole, ensure_ascii=False).encode()
        cut = [data[at : at + 7] for at in range(0, len(data), 7)]
        pieces = [
            {"type": "rpc_chunk", "chunkId": "c", "index": n, "count": len(cut), "data": base64.b64encode(part).decode()}
            for n, part in enumerate(cut)
        ]
        reader = FrameReader()
        other = {"type": "other"}
        self.assertEqual(reader.feed(b"".join(encode(frame) for frame in [*pieces, other, *pieces])), [whole, other, whole])
        # Pieces that are out of order, interrupted, damaged or endless make no frame, and do no harm to the next one.
        swapped = [pieces[1], pieces[0], *pieces[2:]]
        damaged = [*pieces[:2], {**pieces[2], "data": "?"}, *pieces[3:]]
        nonsense = [{"type": "rpc_chunk"}, {**pieces[0], "data": 7}, {**pieces[0], "index": "0"}]
        for bad in (swapped, [pieces[0], other, *pieces[1:]], pieces[:-1], pieces[1:], damaged, nonsense):
            joined = [joiner.feed(frame) for joiner in [ChunkJoiner()] for frame in [*bad, *pieces]]
            self.assertEqual([frame for frame in joined if frame not in (None, other)], [whole])
        small = ChunkJoiner(max_bytes=20)
        self.assertEqual([small.feed(frame) for frame in pieces], [None] * len(pieces))

    def test_the_end_of_an_endless_text(self):
        tail = TextTail(max_chunks=3, max_chars=10)
        for piece in (b"one ", b"two ", b"three ", b"\xff" + b"four"):
            tail.add(piece)
        self.assertEqual(tail.text(), "hree \ufffdfour")


def update(kind, index, **more):
    return {"type": "message_update", "assistantMessageEvent": {"type": kind, "contentIndex": index, **more}}


class Messages(unittest.TestCase):
    def test_blocks_that_grow_side_by_side(self):
        builder = MessageBuilder()
        self.assertIsNone(builder.message)
        builder.feed({"type": "message_start", "message": {"role": "user", "content": "hi"}})
        builder.feed({"type": "message_start", "message": {"role": "assistant", "content": [], "model": "m"}})
        for event in (
            update("thinking_start", 0),
            update("thinking_delta", 0, delta="hm"),
            update("text_start", 1),
            update("text_delta", 1, delta="He"),
            update("thinking_delta", 0, delta="m"),
            update("text_delta", 1, delta="llo"),
            update("thinking_end", 0, content="hmm"),
            update("toolcall_start", 2, id="c1", toolName="bash"),
            update("toolcall_delta", 2, delta='{"command":"l'),
        ):
            builder.feed(event)
        self.assertEqual(
            builder.message,
            {
                "role": "assistant",
                "model": "m",
                "content": [
                    {"type": "thinking", "thinking": "hmm"},
                    {"type": "text", "text": "Hello"},
                    {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "l"}},
                ],
            },
        )
        self.assertEqual(builder.text, "Hello")
        call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}
        builder.feed(update("toolcall_end", 2, toolCall=call))
        self.assertEqual(builder.message["content"][2], call)
        builder.feed({"type": "message_end", "message": {"role": "assistant", "content": "whole"}})
        self.assertEqual(builder.text, "whole")

    def test_nonsense_is_left_out(self):
        builder = MessageBuilder()
        for event in ({"type": "message_update"}, {"type": "message_end", "message": "?"}, update("text_delta", "x"), update("text_delta", None), {"type": "?"}):
            builder.feed(event)
        self.assertIsNone(builder.message)

    def test_unfinished_arguments(self):
        whole = '{"a": "x\\"y", "b": [1, {"c": null}], "d": -2.5e3}'
        self.assertEqual(partial_json(whole), json.loads(whole))
        for end in range(len(whole)):
            self.assertIsInstance(partial_json(whole[:end]), dict)
        self.assertEqual(partial_json('{"a": "x", "b": [1, {"c": nu'), {"a": "x", "b": [1, {}]})
        self.assertEqual(partial_json(""), {})


class Routing(unittest.TestCase):
    def setUp(self):
        self.router = Router(Future, max_events=3)

    def ask(self, command="get_state"):
        frame, future = self.router.request(command, {})
        return frame["id"], future

    def answer(self, **fields):
        self.router.feed({"type": "response", **fields})

    def test_answers_find_their_questions(self):
        frame, first = self.router.request("a", {"x": 1, **given({"y": None, "z": 0})})
        self.assertEqual(frame, {"id": "req_1", "type": "a", "x": 1, "z": 0})
        second_id, second = self.ask("b")
        self.answer(id=second_id, command="b", success=True, data=2)
        self.answer(id="req_1", command="a", success=False, error="busy")
        self.assertEqual(second.result(0), 2)
        with self.assertRaisesRegex(CommandError, "a: busy"):
            first.result(0)

    def test_failures_without_an_id(self):
        _, first = self.ask("a")
        _, second = self.ask("b")
        self.answer(command="parse", success=False, error="whose?")
        self.assertFalse(first.done() or second.done())
        self.answer(command="b", success=False, error="Unknown command: b")
        self.assertIn("Unknown command", str(second.exception(0)))
        self.answer(command="a", success=True)
        self.assertFalse(first.done())
        self.answer(command="parse", success=False, error="mine")
        self.assertIn("mine", str(first.exception(0)))

    def test_a_run_ends_with_its_own_result(self):
        self.router.feed({"type": "ready", "dialect": "union"})
        run = self.router.open_run()
        self.router.name_run(run, "req_9")
        for event in ({"type": "agent_end"}, {"type": "prompt_result", "id": "req_8"}):
            self.router.feed(event)
            self.assertFalse(run.has_ended)
        self.answer(id="req_9", command="prompt", success=False, error="no key")
        self.assertEqual(run.late_failure.error, "no key")
        self.router.feed({"type": "prompt_result", "id": "req_9", "status": "error"})
        self.assertEqual((run.has_ended, run.result["status"], len(run.take())), (True, "error", 3))

    def test_a_run_of_an_agent_without_results(self):
        run = self.router.open_run()
        self.router.feed({"type": "agent_end", "willRetry": True})
        self.assertFalse(run.has_ended)
        self.router.feed({"type": "agent_end"})
        self.assertTrue(run.has_ended)
        handled = self.router.open_run()
        handled.accepted({"disposition": "handled", "agentInvoked": False})
        self.assertTrue(handled.has_ended)

    def test_a_reader_that_is_gone_holds_nothing_up(self):
        kept = self.router.open_channel()
        dropped = self.router.open_run()
        self.router.name_run(dropped, "req_1")
        for _ in range(3):
            self.router.feed({"type": "notice"})
        self.assertTrue(self.router.should_pause)
        with self.router.waiting_for(lambda: False):
            self.assertFalse(self.router.should_pause)
        with self.router.waiting_for(lambda: True):
            self.assertTrue(self.router.should_pause)
        self.ask()
        self.assertFalse(self.router.should_pause)
        self.answer(id="req_1", command="get_state", success=True)
        kept.mute()
        self.assertTrue(self.router.should_pause)
        del dropped
        self.assertFalse(self.router.should_pause)

    def test_too_many_events_are_an_error_and_no_burden(self):
        channel = self.router.open_channel()
        for _ in range(1001):
            self.router.feed({"type": "notice"})
        with self.assertRaisesRegex(EventOverflowError, "more than 1000 events were not read"):
            channel.take()
        self.assertFalse(self.router.should_pause)

    def test_when_an_agent_is_idle(self):
        waits = {"isStreaming": False, "isSettled": False, "isCompacting": False, "hasPendingAsyncWork": False}
        for state, idle in (
            ({}, True),
            ({"isStreaming": True}, False),
            ({"isStreaming": False, "isSettled": True}, True),
            (waits, False),
            # After an abort: it waits for the next prompt.
            ({**waits, "pendingMessageCount": 1}, True),
            ({**waits, "pendingMessageCount": 1, "isCompacting": True}, False),
            ({**waits, "pendingMessageCount": 1, "isStreaming": True}, False),
        ):
            self.assertEqual(is_idle(state), idle, state)

    def test_the_end_reaches_everybody(self):
        _, future = self.ask()
        channel = self.router.open_channel()
        self.router.feed({"type": "notice"})
        self.router.fail(TillerError("gone"))
        self.assertEqual((str(future.exception(0)), len(channel.take())), ("gone", 1))
        with self.assertRaisesRegex(TillerError, "gone"):
            channel.take()
        for late in (self.ask, self.router.open_channel):
            with self.assertRaisesRegex(TillerError, "gone"):
                late()


class Lending(unittest.TestCase):
    def setUp(self):
        self.sent = []
        self.hosting = Hosting(self.sent.append, "cancel")

    def do(self, frame):
        job = self.hosting.job_for(frame)
        try:
            answer = job.answer(job.work())
        except Exception as error:
            answer = job.fail(error)
        return answer if job.is_wanted() else None

    def call(self, name, **arguments):
        return self.do({"type": "host_tool_call", "id": "h1", "toolName": name, "arguments": arguments})

    def test_tools(self):
        def half(arguments, call):
            call.update("half way")
            return [{"type": "text", "text": arguments["x"]}]

        self.hosting.lend_tools(
            [
                HostTool("half", "d", {"type": "object"}, half, timeout_ms=5),
                HostTool("none", "d", {}, lambda arguments, call: None),
                HostTool("whole", "d", {}, lambda arguments, call: {"content": [], "details": 1}),
                HostTool("bad", "d", {}, lambda arguments, call: 1 / 0),
            ]
        )
        self.assertEqual(self.call("half", x="y")["result"], {"content": [{"type": "text", "text": "y"}]})
        self.assertEqual(self.sent[0]["partialResult"], {"content": [{"type": "text", "text": "half way"}]})
        self.assertEqual(self.call("none")["result"], {"content": [{"type": "text", "text": ""}]})
        self.assertEqual(self.call("whole")["result"]["details"], 1)
        self.assertEqual((self.call("bad")["isError"], self.call("bad")["result"]["content"][0]["text"]), (True, "division by zero"))
        self.assertIn('"other" is not registered', self.call("other")["result"]["content"][0]["text"])

    def test_a_call_that_is_withdrawn_is_not_answered(self):
        def slow(arguments, call):
            self.hosting.job_for({"type": "host_tool_cancel", "id": "h2", "targetId": "h1"})
            call.update("too late")
            return str(call.is_cancelled)

        self.hosting.lend_tools([HostTool("slow", "d", {}, slow)])
        self.assertIsNone(self.call("slow"))
        self.assertEqual(self.sent, [])
        self.assertIsNone(self.hosting.job_for({"type": "host_tool_cancel", "id": "h3", "targetId": "never"}))

    def test_urls(self):
        kept = {"db://a": "1"}
        self.hosting.lend_uris([HostUri("db", kept.__getitem__, kept.__setitem__), HostUri("wiki", lambda url: url)])
        ask = lambda **more: self.do({"type": "host_uri_request", "id": "u1", "operation": "read", **more})  # noqa: E731
        self.assertEqual(ask(url="db://a"), {"type": "host_uri_result", "id": "u1", "content": "1"})
        self.assertEqual(ask(url="DB://a", operation="write", content="2"), {"type": "host_uri_result", "id": "u1"})
        self.assertEqual(kept["DB://a"], "2")
        self.assertIn("can only be read", ask(url="wiki://x", operation="write", content="2")["error"])
        self.assertIn("nothing is lent", ask(url="else://x")["error"])

    def test_dialogs(self):
        ask = {"type": "extension_ui_request", "id": "ui-1", "method": "confirm", "title": "Sure?", "message": "?"}
        self.assertIsNone(self.hosting.job_for(ask))
        self.assertEqual(self.sent, [{"type": "extension_ui_response", "id": "ui-1", "cancelled": True}])
        self.assertIsNone(self.hosting.job_for({**ask, "method": "notify"}))
        self.hosting.dialogs = "manual"
        self.assertIsNone(self.hosting.job_for(ask))
        for value, fields in ((True, {"confirmed": True}), ("x", {"value": "x"}), (None, {"cancelled": True})):
            self.hosting.dialogs = lambda request: value
            self.assertEqual(self.do(ask), {"type": "extension_ui_response", "id": "ui-1", **fields})
        self.hosting.dialogs = lambda request: request["nothing"]
        self.assertTrue(self.do(ask)["cancelled"])


class Working(unittest.TestCase):
    def test_jobs_run_side_by_side_and_a_bad_answer_is_a_failure(self):
        workers, sent, met = Workers(), [], threading.Barrier(3)

        def job(work):
            return Job(work=work, answer=lambda value: value, fail=str, is_wanted=lambda: True)

        def send(frame):
            if frame == "not JSON":
                raise TillerError("cannot be written")
            sent.append(frame)

        async def later():
            return "awaited"

        def together():
            met.wait(10)
            return "a"

        def leave():
            raise SystemExit("left")

        for work in (leave, together, together, later, lambda: "not JSON", lambda: 1 / 0):
            workers.run(job(work), send)
        met.wait(10)
        for _ in range(1000):
            if len(sent) == 6:
                break
            time.sleep(0.01)
        workers.close()
        self.assertEqual(sorted(sent), ["a", "a", "awaited", "cannot be written", "division by zero", "left"])

    def test_what_a_callback_cancels_itself_is_a_failure_in_a_loop_too(self):
        sent = []

        class Open(AsyncTillerClient):
            def _send_if_open(self, frame):
                sent.append(frame)

        async def cancelled():
            raise asyncio.CancelledError()

        async def do(client):
            await client._do(Job(work=cancelled, answer=str, fail=lambda error: "failed", is_wanted=lambda: True))

        client = Open()
        with self.assertRaises(asyncio.CancelledError):
            asyncio.run(do(client))
        client._process = object()
        asyncio.run(do(client))
        self.assertEqual(sent, ["failed"])


class Starting(unittest.TestCase):
    def test_command_line_and_environment(self):
        options = Options(command=["node", "cli.js"], model="a/b", args=["--no-session"], env={"PATH": None, "X": "1"})
        self.assertEqual(options.argv(), ["node", "cli.js", "--mode", "rpc", "--model", "a/b", "--no-session"])
        self.assertEqual((options.environment().get("PATH"), options.environment()["X"]), (None, "1"))

    def test_time_outs(self):
        options = Options(request_timeout=7)
        asked = [("get_state", None), ("get_state", 2), ("get_state", float("inf")), ("bash", None), ("bash", 3), ("prompt", None)]
        self.assertEqual([options.timeout_of(*pair) for pair in asked], [7, 2, None, None, 3, 7])

    def test_command_line_of_the_compatible_client(self):
        line = lambda **more: RpcClient(**more)._options.argv()  # noqa: E731
        self.assertEqual(line(), ["tiller", "--mode", "rpc", "--dialect", "xcsh", "--no-title"])
        self.assertEqual(
            line(
                executable="/opt/xcsh",
                provider="p",
                model="m",
                session_dir="d",
                thinking="low",
                append_system_prompt="t",
                provider_session_id="i",
                tools=["a", "b"],
                no_session=True,
                no_skills=True,
                no_rules=True,
                rpc_defaults=False,
                extra_args=["--x"],
            ),
            "/opt/xcsh --mode rpc --provider p --model m --session-dir d --thinking low --append-system-prompt t "
            "--provider-session-id i --tools a,b --no-session --no-skills --no-rules --x".split(),
        )
        self.assertEqual(line(command=["a"], tools=[], no_title=True), "a --mode rpc --no-tools --no-title".split())

    def test_plans_and_records_of_the_compatible_client(self):
        self.assertEqual(
            _with_ids([{"name": "Build", "tasks": ["one", {"content": "two", "id": "mine", "status": "completed"}]}]),
            [
                {
                    "id": "phase-1",
                    "name": "Build",
                    "tasks": [
                        {"id": "task-1", "status": "pending", "content": "one"},
                        {"id": "mine", "status": "completed", "content": "two"},
                    ],
                }
            ],
        )
        state = Record({"sessionId": "s", "model": {"baseUrl": "u"}, "todoPhases": [{"id": "phase-1"}]})
        self.assertEqual((state.session_id, state.model.base_url, state.todo_phases[0].id, state.no_such), ("s", "u", "phase-1", None))


class Generated(unittest.TestCase):
    def test_every_command_has_its_method_and_no_client_hides_one(self):
        self.assertGreater(len(commands.COMMANDS), 40)
        for name in commands.COMMANDS:
            self.assertIs(getattr(TillerClient, name), getattr(commands.Commands, name), name)
            self.assertIs(getattr(AsyncTillerClient, name), getattr(commands.AsyncCommands, name), name)
            self.assertTrue(asyncio.iscoroutinefunction(getattr(AsyncTillerClient, name)), name)

    def test_every_type_can_be_resolved(self):
        for name in types.__all__:
            typing.get_type_hints(type("Holder", (), {"__annotations__": {"value": getattr(types, name)}}), vars(types))
            if isinstance(getattr(types, name), type):
                typing.get_type_hints(getattr(types, name))
        for owner in (commands.Commands, commands.AsyncCommands):
            for name in commands.COMMANDS:
                self.assertIn("return", typing.get_type_hints(getattr(owner, name)))
        state = types.SessionState
        self.assertIn("sessionId", state.__required_keys__)
        self.assertIn("sessionName", state.__optional_keys__)

    def test_it_is_python_3_9(self):
        for name in os.listdir(SOURCES):
            if name.endswith(".py"):
                with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
                    ast.parse(file.read(), name, feature_version=(3, 9))


if __name__ == "__main__":
    unittest.main()
