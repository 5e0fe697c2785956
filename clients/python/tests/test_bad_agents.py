"""Agents that are missing, die, hang, print noise or never stop: every one of them ends in an error that says what happened."""

import asyncio
import gc
import threading
import time
import unittest

from support import fake

from tiller_rpc import (
    AgentExitedError,
    AgentStartError,
    AsyncTillerClient,
    ClientClosedError,
    CommandError,
    EventOverflowError,
    HostTool,
    RequestTimeoutError,
    TillerClient,
    TillerError,
)
from tiller_rpc.compat import RpcClient

#: More than a channel ever keeps.
FLOOD = "2000"


def comes_true(condition):
    for _ in range(1000):
        if condition():
            return True
        time.sleep(0.01)
    return False


class BadAgents(unittest.TestCase):
    def test_it_is_missing(self):
        with self.assertRaisesRegex(AgentStartError, "cannot start /no/such/agent"):
            TillerClient("/no/such/agent").start()

    def test_it_ends_at_once(self):
        with self.assertRaisesRegex(AgentStartError, r"exit code 3(?s:.)*Unknown option: --frobnicate"):
            TillerClient(fake("ends_at_once")).start()

    def test_it_hangs(self):
        client = TillerClient(fake("hangs"), start_timeout=0.4)
        with self.assertRaisesRegex(AgentStartError, r"not ready within 0.4 s"):
            client.start()
        self.assertFalse(client.is_running)

    def test_noise_unknown_ids_and_new_events(self):
        with TillerClient(fake("noisy")) as client:
            with client.events() as events:
                self.assertEqual(client.request("get_state")["text"], "a\u2028b")
                seen = [events.next(5)["type"] for _ in range(4)]
                self.assertEqual(seen[-1], "brand_new_event")
                with self.assertRaisesRegex(RequestTimeoutError, "no answer to silence within 0.05 s"):
                    client.request("silence", request_timeout=0.05)
                # An answer that comes too late is for nobody.
                self.assertTrue(client.get_state()["isSettled"])
                for _ in range(2):
                    self.assertEqual([events.next(5)["type"] for _ in range(4)], seen)
                with self.assertRaises(RequestTimeoutError):
                    events.next(0.02)
        for _ in range(2):
            client.close()
        with self.assertRaisesRegex(ClientClosedError, "closed"):
            client.get_state()
        with self.assertRaisesRegex(ClientClosedError, "closed"):
            client.events()

    def test_it_dies_in_a_prompt_and_is_started_again(self):
        client = TillerClient(fake("dies_in_a_prompt"))
        with self.assertRaisesRegex(ClientClosedError, "not started"):
            client.get_state()
        with client:
            for _ in range(2):
                seen = []
                with self.assertRaisesRegex(AgentExitedError, r"signal 9(?s:.)*out of luck") as caught:
                    for event in client.run("go"):
                        seen.append(event["type"])
                self.assertEqual((seen, caught.exception.exit_code), (["agent_start"], -9))
                with self.assertRaises(AgentExitedError):
                    client.get_state()
                client.restart()

    def test_a_flood_waits_in_the_pipe(self):
        with TillerClient(fake("floods", FLOOD), max_events=50) as client:
            run = client.run("go")
            self.assertTrue(comes_true(lambda: client._router.should_pause))
            channel, most, count = run._channel, 0, 0
            for _ in run:
                count += 1
                most = max(most, len(channel._events))
            self.assertEqual((count, run.result["status"]), (int(FLOOD) + 1, "completed"))
            # What is in one chunk of the pipe comes at once.
            self.assertLess(most, 1000)

    def test_a_flood_that_nobody_reads_holds_up_no_answer(self):
        with TillerClient(fake("floods", FLOOD), max_events=50) as client:
            neglected = client.events()
            run = client.run("go")
            self.assertEqual(client.request("get_state"), {"disposition": "started"})
            with self.assertRaisesRegex(EventOverflowError, "were not read"):
                list(run)
            self.assertEqual(run.wait()["status"], "completed")
            # Whoever stops reading may still ask for the end.
            other = client.run("go")
            for _ in other:
                break
            gc.collect()
            self.assertEqual(other.wait()["status"], "completed")
            with self.assertRaisesRegex(EventOverflowError, "were not read"):
                neglected.next(1)

    def test_an_agent_like_pi(self):
        with TillerClient(fake("like_pi"), expect_ready=False, updates="snapshot") as client:
            self.assertEqual([event["type"] for event in client.run("go")], ["agent_end"])
            with self.assertRaisesRegex(CommandError, "no key"):
                client.run("fail later").wait()
            with self.assertRaisesRegex(CommandError, "Unknown command: set_host_tools"):
                client.lend_tools([HostTool("a", "b", {}, lambda arguments, call: "")])
            client.wait_for_idle()


    def test_a_prompt_that_fails_after_it_was_accepted(self):
        complaints, heard = [], []
        self.addCleanup(setattr, threading, "excepthook", threading.excepthook)
        threading.excepthook = lambda failure: complaints.append(str(failure.exc_value))
        with RpcClient(command=fake("fails_late")) as client:
            client.on_notification(lambda event: 1 / 0)
            client.on_unknown_notification(lambda event: heard.append(event.status))
            with self.assertRaisesRegex(CommandError, "prompt: no key"):
                client.prompt_and_wait("go")
            # One listener that fails does not keep the others from hearing.
            self.assertTrue(comes_true(lambda: heard == ["error"] and complaints == ["division by zero"]))
            with client._one_prompt, self.assertRaisesRegex(TillerError, "one at a time"):
                client.prompt_and_wait("go")
            self.assertEqual(client.run("go").wait()["status"], "error")


    def test_a_client_that_was_forgotten_leaves_no_agent(self):
        before = set(threading.enumerate())
        client = TillerClient(fake("noisy")).start()
        # It is asked to run a tool, in a thread for that.
        client.get_state()
        process = client._process._popen
        events = client.events()
        del client, events
        self.assertTrue(comes_true(lambda: gc.collect() >= 0 and process.poll() is not None))
        self.assertTrue(comes_true(lambda: set(threading.enumerate()) <= before))


class BadAgentsInALoop(unittest.IsolatedAsyncioTestCase):
    async def test_starts_that_fail(self):
        for command, patience, text in (
            ("/no/such/agent", 30, "cannot start /no/such/agent"),
            (fake("ends_at_once"), 30, r"exit code 3(?s:.)*Unknown option: --frobnicate"),
            (fake("hangs"), 0.4, "not ready within 0.4 s"),
        ):
            with self.assertRaisesRegex(AgentStartError, text):
                await AsyncTillerClient(command, start_timeout=patience).start()

    async def test_noise_death_and_closing_twice(self):
        async with AsyncTillerClient(fake("noisy")) as client:
            self.assertTrue((await client.get_state())["isSettled"])
            with self.assertRaisesRegex(RequestTimeoutError, "no answer to silence"):
                await client.request("silence", request_timeout=0.05)
            await client.close()
        await client.close()
        with self.assertRaises(ClientClosedError):
            await client.get_state()
        async with AsyncTillerClient(fake("dies_in_a_prompt")) as client:
            with self.assertRaisesRegex(AgentExitedError, r"signal 9(?s:.)*out of luck"):
                await client.run("go")

    async def test_a_client_that_was_forgotten_leaves_no_agent(self):
        client = await AsyncTillerClient(fake("noisy")).start()
        process = client._process
        del client
        gc.collect()
        self.assertEqual(await asyncio.wait_for(process.wait(), 10), 0)

    async def test_floods(self):
        async with AsyncTillerClient(fake("floods", FLOOD), max_events=50) as client:
            run, most, count = await client.run("go").send(), 0, 0
            while not client._router.should_pause:
                await asyncio.sleep(0.01)
            async for _ in run:
                count += 1
                most = max(most, len(run._channel._events))
                if count % 100 == 0:
                    await asyncio.sleep(0)
            self.assertEqual(count, int(FLOOD) + 1)
            self.assertLess(most, 1000)
            neglected = client.events()
            self.assertEqual((await client.run("go"))["status"], "completed")
            with self.assertRaisesRegex(EventOverflowError, "were not read"):
                await neglected.next(1)


if __name__ == "__main__":
    unittest.main()
