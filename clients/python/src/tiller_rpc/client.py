"""The client for programs that wait: every command is a method, a prompt is something to iterate over."""

from __future__ import annotations

import os
import threading
import time
import weakref
from concurrent.futures import Future, TimeoutError as FutureTimeout
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Type, TypeVar, Union, cast
from types import TracebackType

from .commands import Commands
from .errors import AgentExitedError, ClientClosedError, PromptError, RequestTimeoutError
from .framing import Frame, given
from .hosting import DialogAnswer, Dialogs, HostTool, HostUri, Hosting, dialog_answer
from .messages import MessageBuilder, text_of
from .options import Options
from .process import AgentProcess, start_failure, start_timeout
from .router import Channel, Router, RunChannel, is_idle, timeout_error
from .types import ImageContent, Notification, PromptLimits, PromptResultEvent
from .workers import Workers

Self = TypeVar("Self", bound="TillerClient")


class TillerClient(Commands):
    """An agent and the pipe to it.

    ``with TillerClient() as client: ...`` starts and ends it. All methods may be called from any thread, also from
    the callbacks for tools and dialogs, which run in threads of their own.
    """

    def __init__(
        self,
        command: Union[str, Sequence[str]] = "tiller",
        *,
        args: Sequence[str] = (),
        cwd: Union[str, "os.PathLike[str]", None] = None,
        env: Optional[Mapping[str, Optional[str]]] = None,
        model: Optional[str] = None,
        tools: Iterable[HostTool] = (),
        uris: Iterable[HostUri] = (),
        on_dialog: Dialogs = "cancel",
        updates: str = "delta",
        expect_ready: bool = True,
        start_timeout: float = 30.0,
        request_timeout: float = 30.0,
        max_events: int = 10_000,
        max_stderr_chunks: int = 512,
    ) -> None:
        """
        :param command: the program, or the program and its first arguments
        :param args: more arguments, behind ``--mode rpc``
        :param env: changes to the environment; None takes a variable away
        :param tools: tools that the host runs
        :param uris: URLs that the host reads and writes
        :param on_dialog: who answers dialogs: a function, "cancel", or "manual" (whoever reads the events)
        :param updates: "delta" or "snapshot": whether ``message_update`` repeats the message so far
        :param expect_ready: False for agents that do not send ``ready``, as pi
        :param request_timeout: seconds to wait for answers; ``math.inf`` is for ever
        :param max_events: when so many events wait for a reader, the agent has to wait too
        """
        self._options = Options(
            command=command,
            args=args,
            cwd=cwd,
            env=env or {},
            model=model,
            updates=updates,
            expect_ready=expect_ready,
            start_timeout=start_timeout,
            request_timeout=request_timeout,
            max_events=max_events,
            max_stderr_chunks=max_stderr_chunks,
        )
        self._hosting = Hosting(self._send_if_open, on_dialog)
        self._hosting.lend_tools(tools)
        self._hosting.lend_uris(uris)
        self._condition = threading.Condition()
        self._router: "Router[Future[Any]]" = self._new_router()
        self._router.fail(ClientClosedError("the client is not started: call start(), or use it in a with statement"))
        self._process: Optional[AgentProcess] = None
        self._last_process: Optional[AgentProcess] = None
        self._exit_code: Optional[int] = None
        self._workers = Workers()
        #: Ends the agent of a client that was forgotten instead of closed.
        self._let_go: "Optional[weakref.finalize[..., TillerClient]]" = None

    # Start and end

    def start(self: Self) -> Self:
        """Starts the agent and waits until it is ready."""
        with self._condition:
            if self._process is not None:
                return self
            self._router = self._new_router()
            self._exit_code = None
            process = self._start_process(self._router)
            self._process = self._last_process = process
        try:
            self._wait_until_ready(process)
            if self._options.updates == "delta":
                # An agent of another kind does not know this, and says so; nobody waits for the answer.
                self.send({"type": "set_update_mode", "mode": "delta"})
            if self._hosting.tools:
                self.set_host_tools([tool.definition() for tool in self._hosting.tools.values()])
            if self._hosting.uris:
                self.set_host_uri_schemes([uri.definition() for uri in self._hosting.uris.values()])
        except BaseException:
            process.kill()
            self.close()
            raise
        return self

    def close(self) -> None:
        """Ends the agent. Once more does no harm."""
        with self._condition:
            process, self._process = self._process, None
        if process is None:
            return
        if self._let_go is not None:
            self._let_go.detach()
        self._fail(self._router, ClientClosedError("the client is closed"))
        process.close()
        self._workers.close()

    def restart(self: Self) -> Self:
        """Ends the agent, if it still lives, and starts another one with the same options, tools and URLs."""
        self.close()
        return self.start()

    def __enter__(self: Self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._exit_code is None

    @property
    def pid(self) -> Optional[int]:
        return None if self._process is None else self._process.pid

    @property
    def ready_frame(self) -> Frame:
        """What the agent said when it was ready: its version, its dialect, its limits."""
        return self._router.ready or {}

    @property
    def stderr(self) -> str:
        """The end of what the agent wrote to its stderr."""
        return "" if self._last_process is None else self._last_process.stderr

    # Commands

    def send(self, frame: Mapping[str, Any]) -> None:
        """Sends a frame as it is and waits for nothing."""
        process = self._process
        if process is None:
            raise ClientClosedError("the client is closed")
        process.send(dict(frame))

    def request(self, command: str, /, *, request_timeout: Optional[float] = None, **fields: Any) -> Any:
        """Sends any command, also one that this client has no method for, and gives back the ``data`` of its answer."""
        return self._command(command, fields, request_timeout)

    def _command(self, type_: str, fields: Dict[str, Any], timeout: Optional[float]) -> Any:
        with self._condition:
            frame, future = self._router.request(type_, fields)
            self._condition.notify_all()
        return self._answer_to(frame, future, timeout)

    def _answer_to(self, frame: Frame, future: "Future[Any]", timeout: Optional[float]) -> Any:
        seconds = self._options.timeout_of(frame["type"], timeout)
        try:
            self.send(frame)
            return future.result(seconds)
        except FutureTimeout:
            # An error of ours may be a TimeoutError too.
            if future.done():
                raise
            raise timeout_error(frame["type"], seconds or 0, self.stderr) from None
        finally:
            with self._condition:
                self._router.forget(frame["id"])

    # Prompts and events

    def run(
        self,
        message: str,
        *,
        images: Optional[List[ImageContent]] = None,
        streaming_behavior: Optional[str] = None,
        limits: Optional[PromptLimits] = None,
        timeout: Optional[float] = None,
    ) -> Run:
        """Sends a prompt. Iterate over what comes back for its events; ``wait()`` gives its ``prompt_result``.

        :param timeout: seconds for the whole prompt; after that it is aborted and RequestTimeoutError raised
        """
        options = given({"images": images, "streamingBehavior": streaming_behavior, "limits": limits})
        with self._condition:
            channel = self._router.open_run()
            frame, future = self._router.request("prompt", {"message": message, **options})
            self._router.name_run(channel, frame["id"])
            self._condition.notify_all()
        run = Run(self, channel, timeout)
        channel.accepted(self._answer_to(frame, future, None))
        return run

    def ask(self, message: str, *, images: Optional[List[ImageContent]] = None, timeout: Optional[float] = None) -> str:
        """Sends a prompt and gives back the text of the answer; PromptError when there is none."""
        run = self.run(message, images=images, timeout=timeout)
        result = run.wait()
        if result is not None and result["status"] != "completed":
            raise PromptError(dict(result))
        return run.text

    def events(self) -> Events:
        """Everything the agent tells from now on, for whoever iterates over it; close it when it is no longer read."""
        with self._condition:
            return Events(self, self._router.open_channel())

    def on_event(self, listener: Callable[[Notification], None]) -> Callable[[], None]:
        """Calls ``listener`` with every event, in a thread of its own; gives back what ends that."""
        events = self.events()
        _listen(events, listener)
        return events.close

    def wait_for_idle(self, timeout: Optional[float] = None) -> None:
        """Waits until nothing runs and nothing will start by itself."""
        deadline = _deadline(timeout)
        with self.events() as events:
            state: Dict[str, Any] = dict(self.get_state())
            while not is_idle(state):
                event = events.next(_left(deadline, "the agent to be idle"))
                is_last = event["type"] == "agent_end" and not event.get("willRetry") and "isSettled" not in state
                if is_last or event["type"] == "session_settled":
                    return

    # What the host lends

    def lend_tools(self, tools: Iterable[HostTool]) -> None:
        """Lends these tools, and takes all others back."""
        self.set_host_tools(self._hosting.lend_tools(tools))

    def lend_uris(self, uris: Iterable[HostUri]) -> None:
        """Lends what is behind these URLs, and takes all others back."""
        self.set_host_uri_schemes(self._hosting.lend_uris(uris))

    def answer_dialog(self, dialog_id: str, answer: DialogAnswer) -> None:
        """Answers a dialog that was read from the events, with ``on_dialog="manual"``."""
        self.send(dialog_answer(dialog_id, answer))

    # From the threads of the process

    def _new_router(self) -> "Router[Future[Any]]":
        return Router(Future, self._options.max_events)

    def _start_process(self, router: "Router[Future[Any]]") -> AgentProcess:
        # The threads of the process must not keep a client alive that nobody has any more.
        weak = weakref.ref(self)

        def received(frames: List[Frame]) -> None:
            client = weak()
            if client is not None:
                client._received(router, frames)

        def ended(code: Optional[int]) -> None:
            client = weak()
            if client is not None:
                client._ended(router, code)

        process = AgentProcess(self._options, received, ended)
        self._let_go = weakref.finalize(self, _let_go, process, self._workers)
        # The end of the program closes its pipes, and that ends the agent.
        self._let_go.atexit = False
        return process

    def _wait_until_ready(self, process: AgentProcess) -> None:
        if not self._options.expect_ready:
            self.request("get_state", request_timeout=self._options.start_timeout)
            return
        deadline = _deadline(self._options.start_timeout)
        with self._condition:
            while self._router.ready is None:
                if self._exit_code is not None:
                    raise start_failure(self._exit_code, process.stderr)
                left = deadline - time.monotonic()
                if left <= 0:
                    raise start_timeout(self._options.start_timeout, process.stderr)
                self._condition.wait(left)

    def _received(self, router: "Router[Future[Any]]", frames: List[Frame]) -> None:
        for frame in frames:
            job = self._hosting.job_for(frame)
            if job is not None:
                self._workers.run(job, self._send_if_open)
        with self._condition:
            for frame in frames:
                router.feed(frame)
            self._condition.notify_all()
            while router.should_pause:
                self._condition.wait()

    def _ended(self, router: "Router[Future[Any]]", code: Optional[int]) -> None:
        with self._condition:
            if router is self._router:
                self._exit_code = code
        self._fail(router, AgentExitedError(code, self.stderr))

    def _fail(self, router: "Router[Future[Any]]", error: BaseException) -> None:
        with self._condition:
            router.fail(error)
            self._condition.notify_all()

    def _send_if_open(self, frame: Frame) -> None:
        if self._process is not None:
            self._process.send(frame)

    # For Run and Events

    def _take(self, channel: Channel, deadline: Optional[float], what: str) -> List[Frame]:
        """The next events of a channel; none when it has ended."""
        with self._condition:
            self._wait_until(lambda: channel.has_news, deadline, what)
            self._condition.notify_all()
            return channel.take()

    def _wait_for_end(self, channel: Channel, deadline: Optional[float], what: str) -> None:
        with self._condition:
            self._wait_until(lambda: channel.has_ended, deadline, what)
        if channel.error is not None:
            raise channel.error

    def _wait_until(self, is_so: Callable[[], bool], deadline: Optional[float], what: str) -> None:
        if is_so():
            return
        with self._router.waiting_for(is_so):
            self._condition.notify_all()
            while not is_so():
                self._condition.wait(_left(deadline, what))

    def _mute(self, channel: Channel) -> None:
        with self._condition:
            channel.mute()
            self._condition.notify_all()

    def _close_channel(self, channel: Channel) -> None:
        with self._condition:
            channel.mute()
            channel.end()
            self._router.close_channel(channel)
            self._condition.notify_all()


class Run:
    """One prompt. ``for event in run`` gives its events once; the rest may be asked at any time."""

    def __init__(self, client: TillerClient, channel: RunChannel, timeout: Optional[float]) -> None:
        self._client = client
        self._channel = channel
        self._deadline = None if timeout is None else _deadline(timeout)
        self._builder = MessageBuilder()

    def __iter__(self) -> Iterator[Notification]:
        try:
            while True:
                events = self._timed(self._client._take)
                for event in events:
                    self._builder.feed(event)
                    yield cast(Notification, event)
                if not events:
                    return
        finally:
            # Whoever stops reading shall not hold up the agent.
            self._client._mute(self._channel)

    def wait(self) -> Optional[PromptResultEvent]:
        """Waits for the end and gives back the ``prompt_result``; None of agents that have none."""
        if not self._channel.is_muted:
            for _ in self:
                pass
        self._timed(self._client._wait_for_end)
        return self.result

    def abort(self) -> None:
        """Ends the active run."""
        self._client.abort()

    @property
    def result(self) -> Optional[PromptResultEvent]:
        """The ``prompt_result``, when it has come."""
        return self._channel.result  # type: ignore[return-value]

    @property
    def message(self) -> Optional[Dict[str, Any]]:
        """The newest assistant message as far as it has been read, put together from its pieces."""
        return self._builder.message

    @property
    def text(self) -> str:
        """The text of that message."""
        return text_of(self._builder.message)

    def _timed(self, step: Callable[[RunChannel, Optional[float], str], Any]) -> Any:
        try:
            return step(self._channel, self._deadline, "the prompt to end")
        except RequestTimeoutError:
            self._client._send_if_open({"type": "abort"})
            raise


class Events:
    """All events from one moment on. Iterating ends with the client; an agent that dies raises AgentExitedError."""

    def __init__(self, client: TillerClient, channel: Channel) -> None:
        self._client = client
        self._channel = channel
        self._taken: List[Frame] = []

    def next(self, timeout: Optional[float] = None) -> Notification:
        """The next event; RequestTimeoutError when none comes in time, ClientClosedError when none will come."""
        if not self._taken:
            deadline = None if timeout is None else _deadline(timeout)
            self._taken = self._client._take(self._channel, deadline, "an event")[::-1]
            if not self._taken:
                raise ClientClosedError("there are no more events: they are closed")
        return cast(Notification, self._taken.pop())

    def __iter__(self) -> Iterator[Notification]:
        try:
            while True:
                yield self.next()
        except ClientClosedError:
            return

    def close(self) -> None:
        self._taken = []
        self._client._close_channel(self._channel)

    def __enter__(self) -> Events:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _let_go(process: AgentProcess, workers: Workers) -> None:
    process.close_later()
    workers.close()


def _listen(events: Events, listener: Callable[[Notification], None]) -> None:
    def loop() -> None:
        try:
            for event in events:
                try:
                    listener(event)
                except Exception as error:  # One bad listener must not silence the events.
                    threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, None)))
        except AgentExitedError:
            # Whoever waits for an answer is told.
            return

    threading.Thread(target=loop, daemon=True, name="tiller listener").start()


def _deadline(seconds: Optional[float]) -> float:
    return float("inf") if seconds is None else time.monotonic() + seconds


def _left(deadline: Optional[float], what: str) -> Optional[float]:
    if deadline is None or deadline == float("inf"):
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise RequestTimeoutError(f"waited too long for {what}")
    return left
