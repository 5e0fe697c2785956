"""Puts an assistant message together from the pieces that ``message_update`` events carry."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Tuple

from .framing import Frame

_PIECES = {
    "text_start": "text",
    "text_delta": "text",
    "thinking_start": "thinking",
    "thinking_delta": "thinking",
    "toolcall_start": "toolCall",
    "toolcall_delta": "toolCall",
}


class _Block:
    """One block of the message. Pieces are kept apart and joined when asked for: a long text costs no more than its length."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.pieces: List[str] = []
        self.fields: Dict[str, Any] = {}
        #: The whole block, once it was told.
        self.whole: Optional[Dict[str, Any]] = None

    def content(self) -> Dict[str, Any]:
        if self.whole is not None:
            return self.whole
        text = "".join(self.pieces)
        if self.kind == "toolCall":
            return {"type": "toolCall", **self.fields, "arguments": partial_json(text)}
        return {"type": self.kind, self.kind: text}


class MessageBuilder:
    """Feed it every event; ``message`` is the assistant message so far, in ``delta`` mode as in ``snapshot`` mode."""

    def __init__(self) -> None:
        self._blocks: Dict[int, _Block] = {}
        self._start: Dict[str, Any] = {}
        self._final: Optional[Dict[str, Any]] = None

    def feed(self, event: Frame) -> None:
        kind = event.get("type")
        if kind == "message_update":
            self._update(event.get("assistantMessageEvent") or {})
        elif kind in ("message_start", "message_end"):
            message = event.get("message") or {}
            if message.get("role") != "assistant":
                return
            if kind == "message_start":
                self._blocks, self._start, self._final = {}, message, None
            else:
                self._final = message

    @property
    def message(self) -> Optional[Dict[str, Any]]:
        """The newest assistant message; None before the first."""
        if self._final is not None:
            return self._final
        if not self._start and not self._blocks:
            return None
        content = [self._blocks[index].content() for index in sorted(self._blocks)]
        return {"role": "assistant", **self._start, "content": content}

    @property
    def text(self) -> str:
        """The text of that message, without what was thought and called."""
        return text_of(self.message)

    def _update(self, event: Dict[str, Any]) -> None:
        kind = str(event.get("type"))
        if kind in ("done", "error"):
            self._final = event.get("message") or event.get("error")
            return
        index = event.get("contentIndex")
        if not isinstance(index, int):
            return
        block = self._blocks.get(index)
        if block is None:
            block = self._blocks[index] = _Block(_PIECES.get(kind, kind.split("_")[0]))
        if kind == "toolcall_start":
            block.fields = {"id": event.get("id", ""), "name": event.get("toolName", "")}
        elif kind == "toolcall_end":
            block.whole = event.get("toolCall")
        elif kind.endswith("_delta"):
            block.pieces.append(str(event.get("delta", "")))
        elif kind.endswith("_end"):
            block.pieces = [str(event.get("content", ""))]


def text_of(message: Optional[Dict[str, Any]]) -> str:
    content = (message or {}).get("content") or []
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if block.get("type") == "text")


def partial_json(text: str) -> Any:
    """As much of an unfinished JSON object as is certain; ``{}`` when that is nothing."""
    stack: List[str] = []
    inside_string = escaped = False
    # Where the text may be cut so that it is JSON again, and what closes it there.
    cuts: List[Tuple[int, str]] = []
    for index, char in enumerate(text):
        if inside_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside_string = False
        elif char == '"':
            inside_string = True
        elif char in "{[":
            stack.append("}" if char == "{" else "]")
            cuts.append((index + 1, "".join(reversed(stack))))
        elif char in "}]" and stack:
            stack.pop()
        elif char == ",":
            cuts.append((index, "".join(reversed(stack))))
    closers = "".join(reversed(stack))
    candidates = [text + ('"' if inside_string and not escaped else "") + closers]
    candidates.extend(text[:end] + closing for end, closing in reversed(cuts[-2:]))
    for candidate in candidates:
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    return {}
