"""The client for asyncio. It does what :class:`tiller_rpc.TillerClient` does, without threads."""

from __future__ import annotations

import asyncio
import inspect
import os
import weakref
from typing import (
    Any,
    AsyncIterator,
    Awaitable,
    Callable,
    Dict,
    Generator,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    TypeVar,
    Union,
    cast,
)

from .commands import AsyncCommands
from .errors import (
    AgentExitedError,
    AgentStartError,
    ClientClosedError,
    PromptError,
    RequestTimeoutError,
    TillerError,
)
from .framing import CHUNK_BYTES, Frame, FrameReader, TextTail, encode, given
from .hosting import DialogAnswer, Dialogs, HostTool, HostUri, Hosting, Job, dialog_answer
from .messages import MessageBuilder, text_of
from .options import Options
from .process import GRACE_S, start_failure, start_timeout
from .router import Channel, Router, RunChannel, is_idle, timeout_error
from .types import ImageContent, Notification, PromptLimits, PromptResultEvent

Self = TypeVar("Self", bound="AsyncTillerClient")
T = TypeVar("T")


class AsyncTillerClient(AsyncCommands):
    """An agent and the pipe to it, inside an event loop.

    ``async with AsyncTillerClient() as client: ...`` starts and ends it. Callbacks for tools and dialogs may be plain
    functions or coroutines; plain ones must not take long, because they run in the loop.
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
        """The parameters are those of :class:`tiller_rpc.TillerClient`."""
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
        self._router: "Router[asyncio.Future[Any]]" = self._new_router()
        self._router.fail(ClientClosedError("the client is not started: call start(), or use it in async with"))
        self._process: Optional[asyncio.subprocess.Process] = None
        self._tail = TextTail(max_stderr_chunks)
        self._exit_code: Optional[int] = None
        self._tasks: Set["asyncio.Task[None]"] = set()
        self._reader: Optional["asyncio.Task[None]"] = None
        #: Ends the agent of a client that was forgotten instead of closed.
        self._let_go: "Optional[weakref.finalize[..., AsyncTillerClient]]" = None
        # Set and made anew whenever something has changed.
        self._changed: Optional["asyncio.Event"] = None

    # Start and end

    async def start(self: Self) -> Self:
        """Starts the agent and waits until it is ready."""
        if self._process is not None:
            return self
        self._router, self._exit_code = self._new_router(), None
        self._tail = TextTail(self._options.max_stderr_chunks)
        self._changed = asyncio.Event()
        argv = self._options.argv()
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=self._options.cwd,
                env=self._options.environment(),
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
            )
        except OSError as error:
            raise AgentStartError(f"cannot start {argv[0]}: {error}") from error
        self._process = process
        self._reader = asyncio.ensure_future(_read(weakref.ref(self), process, self._tail))
        self._let_go = weakref.finalize(self, _hang_up, asyncio.get_running_loop(), process)
        # The end of the program closes its pipes, and that ends the agent.
        self._let_go.atexit = False
        try:
            await self._wait_until_ready()
            if self._options.updates == "delta":
                # An agent of another kind does not know this, and says so; nobody waits for the answer.
                self._write({"type": "set_update_mode", "mode": "delta"})
            if self._hosting.tools:
                await self.set_host_tools([tool.definition() for tool in self._hosting.tools.values()])
            if self._hosting.uris:
                await self.set_host_uri_schemes([uri.definition() for uri in self._hosting.uris.values()])
        except BaseException:
            _kill(process)
            await self.close()
            raise
        return self

    async def close(self) -> None:
        """Ends the agent. Once more does no harm."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._let_go is not None:
            self._let_go.detach()
        self._fail(ClientClosedError("the client is closed"))
        for task in list(self._tasks):
            task.cancel()
        assert process.stdin is not None
        process.stdin.close()
        if not await _ends_within(process, GRACE_S):
            process.terminate()
            if not await _ends_within(process, 2.0):
                _kill(process)
        if self._reader is not None:
            await asyncio.wait({self._reader}, timeout=2.0)
            self._reader.cancel()

    async def restart(self: Self) -> Self:
        """Ends the agent, if it still lives, and starts another one with the same options, tools and URLs."""
        await self.close()
        return await self.start()

    async def __aenter__(self: Self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

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
        return self._tail.text()

    # Commands

    async def send(self, frame: Mapping[str, Any]) -> None:
        """Sends a frame as it is and waits for nothing but room in the pipe."""
        process = self._write(dict(frame))
        assert process.stdin is not None
        try:
            await process.stdin.drain()
        except ConnectionError:
            # The agent is gone, which the reader notices.
            return

    async def request(self, command: str, /, *, request_timeout: Optional[float] = None, **fields: Any) -> Any:
        """Sends any command, also one that this client has no method for, and gives back the ``data`` of its answer."""
        return await self._command(command, fields, request_timeout)

    async def _command(self, type_: str, fields: Dict[str, Any], timeout: Optional[float]) -> Any:
        frame, future = self._router.request(type_, fields)
        return await self._answer_to(frame, future, timeout)

    async def _answer_to(self, frame: Frame, future: "asyncio.Future[Any]", timeout: Optional[float]) -> Any:
        self._tell_change()
        seconds = self._options.timeout_of(frame["type"], timeout)

        async def exchange() -> Any:
            await self.send(frame)
            return await future

        try:
            return await asyncio.wait_for(exchange(), seconds)
        except asyncio.TimeoutError as error:
            if isinstance(error, TillerError):
                raise
            raise timeout_error(frame["type"], seconds or 0, self.stderr) from None
        finally:
            self._router.forget(frame["id"])
            if future.done() and not future.cancelled():
                # An error that nobody has waited for is no reason for a warning.
                future.exception()

    # Prompts and events

    def run(
        self,
        message: str,
        *,
        images: Optional[List[ImageContent]] = None,
        streaming_behavior: Optional[str] = None,
        limits: Optional[PromptLimits] = None,
        timeout: Optional[float] = None,
    ) -> AsyncRun:
        """A prompt: ``async for event in client.run(...)`` sends it and gives its events, ``await`` its ``prompt_result``.

        :param timeout: seconds for the whole prompt; after that it is aborted and RequestTimeoutError raised
        """
        options = given({"images": images, "streamingBehavior": streaming_behavior, "limits": limits})
        return AsyncRun(self, {"message": message, **options}, timeout)

    async def ask(
        self, message: str, *, images: Optional[List[ImageContent]] = None, timeout: Optional[float] = None
    ) -> str:
        """Sends a prompt and gives back the text of the answer; PromptError when there is none."""
        run = self.run(message, images=images, timeout=timeout)
        result = await run
        if result is not None and result["status"] != "completed":
            raise PromptError(dict(result))
        return run.text

    def events(self) -> AsyncEvents:
        """Everything the agent tells from now on, for whoever iterates over it; close it when it is no longer read."""
        return AsyncEvents(self, self._router.open_channel())

    async def wait_for_idle(self, timeout: Optional[float] = None) -> None:
        """Waits until nothing runs and nothing will start by itself."""
        with self.events() as events:
            await _within(self._idle(events), timeout, "the agent to be idle")

    async def _idle(self, events: AsyncEvents) -> None:
        state: Dict[str, Any] = dict(await self.get_state())
        while not is_idle(state):
            event = await events.next()
            is_last = event["type"] == "agent_end" and not event.get("willRetry") and "isSettled" not in state
            if is_last or event["type"] == "session_settled":
                return

    # What the host lends

    async def lend_tools(self, tools: Iterable[HostTool]) -> None:
        """Lends these tools, and takes all others back."""
        await self.set_host_tools(self._hosting.lend_tools(tools))

    async def lend_uris(self, uris: Iterable[HostUri]) -> None:
        """Lends what is behind these URLs, and takes all others back."""
        await self.set_host_uri_schemes(self._hosting.lend_uris(uris))

    async def answer_dialog(self, dialog_id: str, answer: DialogAnswer) -> None:
        """Answers a dialog that was read from the events, with ``on_dialog="manual"``."""
        await self.send(dialog_answer(dialog_id, answer))

    # The process

    def _new_router(self) -> "Router[asyncio.Future[Any]]":
        return Router(lambda: asyncio.get_running_loop().create_future(), self._options.max_events)

    async def _wait_until_ready(self) -> None:
        seconds = self._options.start_timeout
        if not self._options.expect_ready:
            await self.request("get_state", request_timeout=seconds)
            return
        try:
            await asyncio.wait_for(
                self._wait_until(lambda: self._router.ready is not None or self._exit_code is not None), seconds
            )
        except asyncio.TimeoutError:
            raise start_timeout(seconds, self.stderr) from None
        if self._router.ready is None:
            raise start_failure(self._exit_code, self.stderr)

    async def _received(self, frames: List[Frame]) -> None:
        for frame in frames:
            job = self._hosting.job_for(frame)
            if job is not None:
                task = asyncio.ensure_future(self._do(job))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            self._router.feed(frame)
        self._tell_change()
        while self._router.should_pause:
            await self._next_change()

    async def _do(self, job: Job) -> None:
        try:
            value = job.work()
            frame = job.answer(await value if inspect.isawaitable(value) else value)
        except asyncio.CancelledError as error:
            # When the client is closed nobody waits; what the callback has cancelled itself is a failure.
            if self._process is None:
                raise
            frame = job.fail(error)
        except Exception as error:
            frame = job.fail(error)
        if not job.is_wanted():
            return
        try:
            self._send_if_open(frame)
        except TillerError as error:
            # The answer was nothing that can be sent; the agent must not wait for ever.
            self._send_if_open(job.fail(error))

    def _write(self, frame: Frame) -> asyncio.subprocess.Process:
        process = self._process
        if process is None:
            raise ClientClosedError("the client is closed")
        assert process.stdin is not None
        data = encode(frame)
        if not process.stdin.is_closing():
            process.stdin.write(data)
        return process

    def _send_if_open(self, frame: Frame) -> None:
        if self._process is not None:
            self._write(frame)

    def _ended(self, code: int) -> None:
        self._exit_code = code
        self._fail(AgentExitedError(code, self.stderr))

    def _fail(self, error: BaseException) -> None:
        self._router.fail(error)
        self._tell_change()

    # Waiting

    def _tell_change(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = asyncio.Event()

    async def _next_change(self) -> None:
        assert self._changed is not None
        await self._changed.wait()

    async def _wait_until(self, is_so: Callable[[], bool]) -> None:
        if is_so():
            return
        with self._router.waiting_for(is_so):
            self._tell_change()
            while not is_so():
                await self._next_change()

    async def _take(self, channel: Channel) -> List[Frame]:
        """The next events of a channel; none when it has ended."""
        await self._wait_until(lambda: channel.has_news)
        self._tell_change()
        return channel.take()

    async def _wait_for_end(self, channel: Channel) -> None:
        await self._wait_until(lambda: channel.has_ended)
        if channel.error is not None:
            raise channel.error

    def _mute(self, channel: Channel) -> None:
        channel.mute()
        self._tell_change()

    def _close_channel(self, channel: Channel) -> None:
        channel.end()
        self._router.close_channel(channel)
        self._mute(channel)


class AsyncRun:
    """One prompt. ``async for event in run`` gives its events once, ``await run`` its ``prompt_result``.

    A task that is cancelled while it waits for the prompt aborts it.
    """

    def __init__(self, client: AsyncTillerClient, fields: Dict[str, Any], timeout: Optional[float]) -> None:
        self._client = client
        self._fields = fields
        self._timeout = timeout
        self._deadline: Optional[float] = None
        self._channel: Optional[RunChannel] = None
        self._builder = MessageBuilder()

    async def send(self) -> AsyncRun:
        """Sends the prompt, if that was not done yet, and waits until it is accepted."""
        if self._channel is None:
            client = self._client
            if self._timeout is not None:
                self._deadline = asyncio.get_running_loop().time() + self._timeout
            self._channel = channel = client._router.open_run()
            frame, future = client._router.request("prompt", self._fields)
            client._router.name_run(channel, frame["id"])
            channel.accepted(await client._answer_to(frame, future, None))
        return self

    async def __aiter__(self) -> AsyncIterator[Notification]:
        await self.send()
        channel = self._channel
        assert channel is not None
        try:
            while True:
                events = await self._timed(self._client._take(channel))
                for event in events:
                    self._builder.feed(event)
                    yield cast(Notification, event)
                if not events:
                    return
        finally:
            # Whoever stops reading shall not hold up the agent.
            self._client._mute(channel)

    def __await__(self) -> Generator[Any, None, Optional[PromptResultEvent]]:
        return self.wait().__await__()

    async def wait(self) -> Optional[PromptResultEvent]:
        """Waits for the end and gives back the ``prompt_result``; None of agents that have none."""
        await self.send()
        assert self._channel is not None
        if not self._channel.is_muted:
            async for _ in self:
                pass
        await self._timed(self._client._wait_for_end(self._channel))
        return self.result

    async def abort(self) -> None:
        """Ends the active run."""
        await self._client.abort()

    @property
    def result(self) -> Optional[PromptResultEvent]:
        """The ``prompt_result``, when it has come."""
        return None if self._channel is None else self._channel.result  # type: ignore[return-value]

    @property
    def message(self) -> Optional[Dict[str, Any]]:
        """The newest assistant message as far as it has been read, put together from its pieces."""
        return self._builder.message

    @property
    def text(self) -> str:
        """The text of that message."""
        return text_of(self._builder.message)

    async def _timed(self, step: Awaitable[T]) -> T:
        left = None
        if self._deadline is not None:
            left = max(0.0, self._deadline - asyncio.get_running_loop().time())
        try:
            return await _within(step, left, "the prompt to end")
        except (RequestTimeoutError, asyncio.CancelledError):
            self._client._send_if_open({"type": "abort"})
            raise


class AsyncEvents:
    """All events from one moment on. Iterating ends with the client; an agent that dies raises AgentExitedError."""

    def __init__(self, client: AsyncTillerClient, channel: Channel) -> None:
        self._client = client
        self._channel = channel
        self._taken: List[Frame] = []

    async def next(self, timeout: Optional[float] = None) -> Notification:
        """The next event; RequestTimeoutError when none comes in time, ClientClosedError when none will come."""
        if not self._taken:
            self._taken = (await _within(self._client._take(self._channel), timeout, "an event"))[::-1]
            if not self._taken:
                raise ClientClosedError("there are no more events: they are closed")
        return cast(Notification, self._taken.pop())

    async def __aiter__(self) -> AsyncIterator[Notification]:
        try:
            while True:
                yield await self.next()
        except ClientClosedError:
            return

    def close(self) -> None:
        self._taken = []
        self._client._close_channel(self._channel)

    def __enter__(self) -> AsyncEvents:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _within(step: Awaitable[T], seconds: Optional[float], what: str) -> T:
    if seconds is None:
        return await step
    try:
        return await asyncio.wait_for(step, seconds)
    except asyncio.TimeoutError as error:
        if isinstance(error, TillerError):
            raise
        raise RequestTimeoutError(f"waited too long for {what}") from None


async def _read(
    weak: "weakref.ref[AsyncTillerClient]", process: asyncio.subprocess.Process, tail: TextTail
) -> None:
    """Reads what the agent writes, up to its end. Between two frames it keeps no client alive that nobody has any more."""
    assert process.stdout is not None and process.stderr is not None
    stderr = asyncio.ensure_future(_read_stderr(process.stderr, tail))
    try:
        frames = FrameReader()
        data = await process.stdout.read(CHUNK_BYTES)
        while data:
            await _give(weak, frames.feed(data))
            data = await process.stdout.read(CHUNK_BYTES)
        await _give(weak, frames.end())
        if not await _ends_within(process, GRACE_S):
            # It has closed its stdout and lives on: nothing can be asked of it.
            _kill(process)
        code = await process.wait()
        # Its children may hold stderr open.
        await asyncio.wait({stderr}, timeout=0.5)
        client = weak()
        if client is not None:
            client._ended(code)
    finally:
        stderr.cancel()
        # The loop may end before the client is closed: without a reader the agent is of no use.
        if process.stdin is not None:
            process.stdin.close()


async def _give(weak: "weakref.ref[AsyncTillerClient]", frames: List[Frame]) -> None:
    client = weak()
    if client is not None:
        await client._received(frames)


async def _read_stderr(stderr: asyncio.StreamReader, tail: TextTail) -> None:
    data = await stderr.read(CHUNK_BYTES)
    while data:
        tail.add(data)
        data = await stderr.read(CHUNK_BYTES)


def _hang_up(loop: asyncio.AbstractEventLoop, process: asyncio.subprocess.Process) -> None:
    """The agent ends when its stdin does. May be called from any thread."""
    if process.stdin is not None and not loop.is_closed():
        loop.call_soon_threadsafe(process.stdin.close)


async def _ends_within(process: asyncio.subprocess.Process, seconds: float) -> bool:
    try:
        await asyncio.wait_for(process.wait(), seconds)
    except asyncio.TimeoutError:
        return False
    return True


def _kill(process: asyncio.subprocess.Process) -> None:
    try:
        process.kill()
    except ProcessLookupError:
        # It is gone already.
        return
