"""Bytes to frames and back. A frame is one JSON object on one line, ended by LF."""

from __future__ import annotations

import json
from collections import deque
from typing import Any, Deque, Dict, List, Optional

from .errors import TillerError

Frame = Dict[str, Any]

#: What the agent takes for one line by default; a longer one is left out as noise.
MAX_LINE_BYTES = 256 * 1024 * 1024
CHUNK_BYTES = 64 * 1024


class LineSplitter:
    """Cuts a stream of bytes into lines. LF is the only separator: JSON may contain U+2028 as it is."""

    def __init__(self, max_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._parts: List[bytes] = []
        self._size = 0
        #: Lines that were too long.
        self.dropped = 0

    def feed(self, data: bytes) -> List[bytes]:
        first, *others = data.split(b"\n")
        self._keep(first)
        if not others:
            return []
        lines = self._take()
        *whole, rest = others
        lines.extend(whole)
        self._keep(rest)
        return lines

    def end(self) -> List[bytes]:
        """The last line, when the stream ends without LF."""
        return self._take() if self._size else []

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._max_bytes:
            self._parts.clear()
        elif piece:
            self._parts.append(piece)

    def _take(self) -> List[bytes]:
        size, parts = self._size, self._parts
        self._size, self._parts = 0, []
        if size > self._max_bytes:
            self.dropped += 1
            return []
        return [b"".join(parts)]


def decode(line: bytes) -> Optional[Frame]:
    """The frame of a line, or None when it is none: an agent or something before it may print noise."""
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return frame if isinstance(frame, dict) and isinstance(frame.get("type"), str) else None


def encode(frame: Frame) -> bytes:
    try:
        return json.dumps(frame, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"
    except (TypeError, ValueError) as error:
        raise TillerError(f"{frame.get('type')}: this cannot be written as JSON: {error}") from error


class TextTail:
    """The end of a text that may be endless."""

    def __init__(self, max_chunks: int = 512, max_chars: int = 16 * 1024) -> None:
        self._chunks: Deque[str] = deque(maxlen=max_chunks)
        self._max_chars = max_chars

    def add(self, data: bytes) -> None:
        self._chunks.append(data.decode("utf-8", "replace")[-self._max_chars :])

    def text(self) -> str:
        return "".join(self._chunks)[-self._max_chars :]
