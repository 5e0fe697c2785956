"""The agent as a child process for a program without an event loop: three threads, so that no pipe ever waits for another."""

from __future__ import annotations

import queue
import subprocess
import threading
from typing import Callable, IO, List, Optional

from .errors import AgentStartError, TillerError, exit_text, stderr_text
from .framing import CHUNK_BYTES, Frame, FrameReader, TextTail, encode
from .options import Options

#: More than this waiting to be written means that the agent does not read.
MAX_UNWRITTEN_BYTES = 512 * 1024 * 1024
GRACE_S = 5.0


class AgentProcess:
    """Starts the agent; calls ``on_frames`` for what it writes and ``on_exit`` once at the end, both from one thread."""

    def __init__(
        self, options: Options, on_frames: Callable[[List[Frame]], None], on_exit: Callable[[Optional[int]], None]
    ) -> None:
        self._on_frames = on_frames
        self._on_exit = on_exit
        self._stderr = TextTail(options.max_stderr_chunks)
        self._unwritten = 0
        self._outbox: "queue.SimpleQueue[Optional[bytes]]" = queue.SimpleQueue()
        argv = options.argv()
        try:
            self._popen = subprocess.Popen(
                argv,
                cwd=options.cwd,
                env=options.environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise AgentStartError(f"cannot start {argv[0]}: {error}") from error
        self._stderr_thread = _thread(self._read_stderr)
        self._writer_thread = _thread(self._write)
        self._reader_thread = _thread(self._read_stdout)

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def stderr(self) -> str:
        return self._stderr.text()

    def send(self, frame: Frame) -> None:
        data = encode(frame)
        if self._unwritten + len(data) > MAX_UNWRITTEN_BYTES:
            raise TillerError(f"the agent does not read: {self._unwritten} bytes wait to be written")
        self._unwritten += len(data)
        self._outbox.put(data)

    def close(self, grace_s: float = GRACE_S) -> None:
        """Ends the agent: politely by closing its stdin, then by signals."""
        self._outbox.put(None)
        if not self._has_ended(grace_s):
            self._popen.terminate()
            if not self._has_ended(2.0):
                self._popen.kill()
                self._popen.wait()
        if threading.current_thread() is not self._reader_thread:
            self._reader_thread.join(2.0)

    def close_later(self) -> None:
        """The same without waiting, for places where nobody can wait."""
        threading.Thread(target=self.close, daemon=True, name="tiller end").start()

    def kill(self) -> None:
        self._popen.kill()

    def _has_ended(self, seconds: float) -> bool:
        try:
            self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _write(self) -> None:
        stdin = _pipe(self._popen.stdin)
        try:
            for data in iter(self._outbox.get, None):
                stdin.write(data)
                stdin.flush()
                self._unwritten -= len(data)
        except (OSError, ValueError):
            # The agent is gone, which the reader notices.
            self._unwritten = 0
        try:
            stdin.close()
        except OSError:
            self._unwritten = 0

    def _read_stderr(self) -> None:
        with _pipe(self._popen.stderr) as stderr:
            for data in iter(lambda: _read(stderr), b""):
                self._stderr.add(data)

    def _read_stdout(self) -> None:
        frames = FrameReader()
        with _pipe(self._popen.stdout) as stdout:
            for data in iter(lambda: _read(stdout), b""):
                self._tell(frames.feed(data))
        self._tell(frames.end())
        if not self._has_ended(GRACE_S):
            # It has closed its stdout and lives on: nothing can be asked of it.
            self._popen.kill()
        code = self._popen.wait()
        # Its children may hold stderr open.
        self._stderr_thread.join(0.5)
        self._outbox.put(None)
        self._on_exit(code)

    def _tell(self, frames: List[Frame]) -> None:
        if frames:
            self._on_frames(frames)


def start_failure(code: Optional[int], stderr: str) -> AgentStartError:
    return AgentStartError(f"the agent ended before it was ready ({exit_text(code)}){stderr_text(stderr)}")


def start_timeout(seconds: float, stderr: str) -> AgentStartError:
    return AgentStartError(f"the agent was not ready within {seconds:g} s{stderr_text(stderr)}")


def _thread(target: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True, name=f"tiller {target.__name__.strip('_')}")
    thread.start()
    return thread


def _read(pipe: IO[bytes]) -> bytes:
    return pipe.read1(CHUNK_BYTES)  # type: ignore[attr-defined,no-any-return]


def _pipe(pipe: Optional[IO[bytes]]) -> IO[bytes]:
    assert pipe is not None
    return pipe
