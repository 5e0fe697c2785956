"""Who gets which frame. It knows no threads and no event loop: both clients call it from one place at a time."""

from __future__ import annotations

import itertools
import weakref
from collections import deque
from contextlib import contextmanager
from typing import Any, Callable, Deque, Dict, Generic, Iterator, List, Optional, Protocol, Tuple, TypeVar

from .errors import CommandError, EventOverflowError, RequestTimeoutError, stderr_text
from .framing import Frame

#: What may pile up while somebody waits for something else and reading must go on.
_PATIENCE = 10
_LEAST_PATIENCE = 1000


class Future(Protocol):
    """What the futures of ``concurrent`` and of ``asyncio`` have in common."""

    def done(self) -> bool: ...

    def set_result(self, result: Any) -> None: ...

    def set_exception(self, exception: BaseException) -> None: ...


F = TypeVar("F", bound=Future)
C = TypeVar("C", bound="Channel")


class Channel:
    """Events on their way to one reader, in order, with the end at the end."""

    def __init__(self, max_events: int) -> None:
        self._events: Deque[Frame] = deque()
        self._max_events = max_events
        self.is_muted = False
        self.has_ended = False
        self.error: Optional[BaseException] = None
        #: Events were lost. How it ends is told all the same.
        self.overflow: Optional[EventOverflowError] = None

    @property
    def is_full(self) -> bool:
        return len(self._events) >= self._max_events

    @property
    def has_news(self) -> bool:
        return bool(self._events) or self.has_ended or self.overflow is not None

    def put(self, event: Frame) -> None:
        if self.has_ended or self.is_muted:
            return
        self._events.append(event)
        most = max(self._max_events * _PATIENCE, _LEAST_PATIENCE)
        if len(self._events) > most:
            self.mute()
            self.overflow = EventOverflowError(f"more than {most} events were not read; the rest is lost")

    def take(self) -> List[Frame]:
        """All that is there, for the reader; nothing at the end. Raises what went wrong."""
        events = list(self._events)
        self._events.clear()
        error = self.overflow or self.error
        if not events and error is not None:
            raise error
        return events

    def end(self, error: Optional[BaseException] = None) -> None:
        if not self.has_ended:
            self.has_ended, self.error = True, error

    def mute(self) -> None:
        """The reader wants no more events, but may still ask how it ended."""
        self.is_muted = True
        self._events.clear()


class RunChannel(Channel):
    """The events of one prompt: ends with its ``prompt_result``, or with what older agents send in its place."""

    def __init__(self, max_events: int, tells_results: bool) -> None:
        super().__init__(max_events)
        self._tells_results = tells_results
        self.request_id = ""
        self.result: Optional[Frame] = None
        #: A second answer to the prompt: it was accepted, and then it could not run.
        self.late_failure: Optional[CommandError] = None

    def put(self, event: Frame) -> None:
        super().put(event)
        kind = event.get("type")
        if kind == "prompt_result" and event.get("id") == self.request_id:
            self.result = event
            self.end()
        elif kind == "agent_end" and not self._tells_results and not event.get("willRetry"):
            self.end(self.late_failure)

    def accepted(self, data: Any) -> None:
        if not self._tells_results and isinstance(data, dict) and data.get("agentInvoked") is False:
            self.end()

    def fail_late(self, error: CommandError) -> None:
        self.late_failure = error
        if not self._tells_results:
            self.end(error)


class Router(Generic[F]):
    """Matches answers with requests and hands events to the channels."""

    def __init__(self, make_future: Callable[[], F], max_events: int) -> None:
        self._make_future = make_future
        self._max_events = max_events
        self._numbers = itertools.count(1)
        self._pending: Dict[str, Tuple[str, F]] = {}
        self._channels: "weakref.WeakSet[Channel]" = weakref.WeakSet()
        # A reader that was dropped takes its channel along: nobody would empty it any more.
        self._runs: "weakref.WeakValueDictionary[str, RunChannel]" = weakref.WeakValueDictionary()
        self._failure: Optional[BaseException] = None
        self._conditions: List[Callable[[], bool]] = []
        self.ready: Optional[Frame] = None

    def request(self, command: str, fields: Dict[str, Any]) -> Tuple[Frame, F]:
        """The frame to send, and the future of its answer."""
        if self._failure is not None:
            raise self._failure
        request_id = f"req_{next(self._numbers)}"
        future = self._make_future()
        self._pending[request_id] = (command, future)
        return {"id": request_id, "type": command, **fields}, future

    def forget(self, request_id: str) -> None:
        self._pending.pop(request_id, None)

    @contextmanager
    def waiting_for(self, condition: Callable[[], bool]) -> Iterator[None]:
        """As long as this lasts somebody waits for the condition, and what he waits for may be behind other events."""
        self._conditions.append(condition)
        try:
            yield
        finally:
            self._conditions.remove(condition)

    @property
    def should_pause(self) -> bool:
        """Events that nobody reads stay in the pipe, unless somebody waits for what is behind them."""
        if not any(channel.is_full for channel in self._channels):
            return False
        return not self._pending and all(condition() for condition in self._conditions)

    def open_channel(self) -> Channel:
        return self._opened(Channel(self._max_events))

    def open_run(self) -> RunChannel:
        # An agent that says its dialect is of our kind; the pi dialect leaves prompt_result out.
        dialect = (self.ready or {}).get("dialect")
        return self._opened(RunChannel(self._max_events, tells_results=dialect not in (None, "pi")))

    def name_run(self, run: RunChannel, request_id: str) -> None:
        run.request_id = request_id
        self._runs[request_id] = run

    def close_channel(self, channel: Channel) -> None:
        self._channels.discard(channel)
        if isinstance(channel, RunChannel):
            self._runs.pop(channel.request_id, None)

    def feed(self, frame: Frame) -> None:
        if frame["type"] == "response":
            self._answer(frame)
            return
        if frame["type"] == "ready":
            self.ready = frame
        for channel in list(self._channels):
            channel.put(frame)
            if channel.has_ended:
                self.close_channel(channel)

    def fail(self, error: BaseException) -> None:
        """Nothing will come any more. The first reason is the one that counts."""
        if self._failure is not None:
            return
        self._failure = error
        pending, self._pending = self._pending, {}
        for _, future in pending.values():
            if not future.done():
                future.set_exception(error)
        for channel in list(self._channels):
            channel.end(error)
        self._channels.clear()
        self._runs.clear()

    def _opened(self, channel: C) -> C:
        if self._failure is not None:
            raise self._failure
        self._channels.add(channel)
        return channel

    def _answer(self, frame: Frame) -> None:
        request_id = frame.get("id")
        if request_id is None:
            request_id = self._meant(frame)
        pending = self._pending.pop(request_id, None) if isinstance(request_id, str) else None
        error = None if frame.get("success") is True else _command_error(frame)
        if pending is None:
            run = self._runs.get(request_id) if isinstance(request_id, str) else None
            if run is not None and error is not None:
                run.fail_late(error)
            return
        _, future = pending
        if future.done():
            return
        if error is None:
            future.set_result(frame.get("data"))
        else:
            future.set_exception(error)

    def _meant(self, frame: Frame) -> Optional[str]:
        """Whose failure this is, when it does not say so: a command that the agent does not know is answered without its id."""
        if frame.get("success") is True:
            return None
        command = frame.get("command")
        candidates = [key for key, (name, _) in self._pending.items() if command in (name, "parse")]
        return candidates[0] if len(candidates) == 1 else None


def _command_error(frame: Frame) -> CommandError:
    return CommandError(str(frame.get("command")), str(frame.get("error", "no reason was told")), frame)


def timeout_error(command: str, seconds: float, stderr: str) -> RequestTimeoutError:
    return RequestTimeoutError(f"no answer to {command} within {seconds:g} s{stderr_text(stderr)}")


def is_idle(state: Dict[str, Any]) -> bool:
    """Nothing runs and nothing will by itself. What is queued after an abort waits for the next prompt, not by itself."""
    if state.get("isStreaming"):
        return False
    if state.get("isSettled", True):
        return True
    is_busy = state.get("isCompacting") or state.get("hasPendingAsyncWork")
    return not is_busy and state.get("pendingMessageCount", 0) > 0
