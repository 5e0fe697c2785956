"""Threads for the callbacks of a host: as many as are needed, up to a limit, and none that keeps the program alive."""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from typing import Callable, Optional

from .errors import TillerError
from .framing import Frame
from .hosting import Job

_MAX_THREADS = 16
_MAX_WAITING = 1000


class Workers:
    def __init__(self) -> None:
        self._jobs: "queue.Queue[Optional[Callable[[], None]]]" = queue.Queue()
        self._lock = threading.Lock()
        self._threads = 0
        #: Jobs that are not done yet, whether somebody works on them or not.
        self._open = 0

    def run(self, job: Job, send: Callable[[Frame], None]) -> None:
        """Does the job beside everything else and sends its answer, if that is still wanted."""
        with self._lock:
            if self._jobs.qsize() >= _MAX_WAITING:
                send(job.fail(RuntimeError("the host has too much to do")))
                return
            self._jobs.put(lambda: _do(job, send))
            self._open += 1
            if self._open > self._threads and self._threads < _MAX_THREADS:
                self._threads += 1
                threading.Thread(target=self._work, daemon=True, name="tiller worker").start()

    def close(self) -> None:
        """Threads end when they have nothing to do."""
        with self._lock:
            for _ in range(self._threads):
                self._jobs.put(None)
            self._threads = 0

    def _work(self) -> None:
        for job in iter(self._jobs.get, None):
            try:
                job()
            finally:
                # While it waits for the next one, the last one must not keep its client alive.
                del job
                with self._lock:
                    self._open -= 1


def _do(job: Job, send: Callable[[Frame], None]) -> None:
    try:
        value = job.work()
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
        frame = job.answer(value)
    except BaseException as error:  # sys.exit in a callback ends neither the program nor the waiting of the agent.
        frame = job.fail(error)
    if not job.is_wanted():
        return
    try:
        send(frame)
    except TillerError as error:
        # The answer was nothing that can be sent; the agent must not wait for ever.
        send(job.fail(error))
