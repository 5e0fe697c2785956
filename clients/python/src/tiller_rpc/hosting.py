"""What a host lends to the agent: tools, URLs, and a person who answers dialogs. Here is all of it that needs no I/O."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, Iterable, List, Literal, Mapping, Optional, Union

from .framing import Frame
from .types import HostToolDefinition, HostUriScheme, ToolResult

#: A text, the blocks of a result, or a whole result.
ToolAnswer = Union[str, List[Dict[str, Any]], ToolResult, None]
#: For ``confirm`` a truth, for the others a text; None is "cancelled".
DialogAnswer = Union[str, bool, None]
DialogHandler = Callable[[Dict[str, Any]], Union[DialogAnswer, Awaitable[DialogAnswer]]]
#: ``"cancel"`` answers every dialog with "cancelled", ``"manual"`` leaves the answers to whoever reads the events.
Dialogs = Union[DialogHandler, Literal["cancel", "manual"]]

DIALOG_METHODS = frozenset({"select", "confirm", "input", "editor"})


class ToolCallContext:
    """One call of a tool of the host."""

    def __init__(self, frame: Frame, send: Callable[[Frame], None]) -> None:
        self.id: str = frame["id"]
        self.tool_call_id: str = frame.get("toolCallId", "")
        self.tool_name: str = frame.get("toolName", "")
        #: Nobody wants the result any more.
        self.is_cancelled = False
        self._send = send

    def update(self, partial: ToolAnswer) -> None:
        """Tells the result so far."""
        if not self.is_cancelled:
            self._send({"type": "host_tool_update", "id": self.id, "partialResult": tool_result(partial)})


@dataclass(frozen=True)
class HostTool:
    """A tool that the host runs. ``run`` gets the arguments and a :class:`ToolCallContext`; what it raises, the model reads."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Dict[str, Any], ToolCallContext], Union[ToolAnswer, Awaitable[ToolAnswer]]]
    label: Optional[str] = None
    hidden: bool = False
    timeout_ms: Optional[float] = None

    def definition(self) -> HostToolDefinition:
        definition: HostToolDefinition = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        if self.label is not None:
            definition["label"] = self.label
        if self.hidden:
            definition["hidden"] = True
        if self.timeout_ms is not None:
            definition["timeoutMs"] = self.timeout_ms
        return definition


@dataclass(frozen=True)
class HostUri:
    """A scheme of URLs behind which the host has something. Without ``write`` it can only be read."""

    scheme: str
    read: Callable[[str], Union[str, Awaitable[str]]]
    write: Optional[Callable[[str, str], Union[Optional[str], Awaitable[Optional[str]]]]] = None
    description: Optional[str] = None
    immutable: bool = False
    timeout_ms: Optional[float] = None

    def definition(self) -> HostUriScheme:
        scheme: HostUriScheme = {"scheme": self.scheme, "writable": self.write is not None, "immutable": self.immutable}
        if self.description is not None:
            scheme["description"] = self.description
        if self.timeout_ms is not None:
            scheme["timeoutMs"] = self.timeout_ms
        return scheme


@dataclass(frozen=True)
class Job:
    """A request of the agent, ready to be run: ``work`` may give back an awaitable, ``answer`` makes the frame of its value."""

    work: Callable[[], Any]
    answer: Callable[[Any], Frame]
    fail: Callable[[BaseException], Frame]
    is_wanted: Callable[[], bool]


class Hosting:
    """Knows what was lent, and turns requests of the agent into jobs. Clients run the jobs in their own way."""

    def __init__(self, send: Callable[[Frame], None], dialogs: Dialogs) -> None:
        self._send = send
        self.dialogs = dialogs
        self.tools: Dict[str, HostTool] = {}
        self.uris: Dict[str, HostUri] = {}
        self._open: Dict[str, ToolCallContext] = {}

    def lend_tools(self, tools: Iterable[HostTool]) -> List[HostToolDefinition]:
        self.tools = {tool.name: tool for tool in tools}
        return [tool.definition() for tool in self.tools.values()]

    def lend_uris(self, uris: Iterable[HostUri]) -> List[HostUriScheme]:
        self.uris = {uri.scheme.lower(): uri for uri in uris}
        return [uri.definition() for uri in self.uris.values()]

    def job_for(self, frame: Frame) -> Optional[Job]:
        """The work that a frame asks for, if any. What can be answered at once is."""
        kind = frame["type"]
        if kind == "host_tool_call":
            return self._tool_job(frame)
        if kind == "host_uri_request":
            return self._uri_job(frame)
        if kind in ("host_tool_cancel", "host_uri_cancel"):
            call = self._open.pop(str(frame.get("targetId")), None)
            if call is not None:
                call.is_cancelled = True
        elif kind == "extension_ui_request" and frame.get("method") in DIALOG_METHODS:
            return self._dialog_job(frame)
        return None

    def _track(self, frame: Frame) -> ToolCallContext:
        call = ToolCallContext(frame, self._send)
        self._open[call.id] = call
        return call

    def _wanted(self, call: ToolCallContext) -> Callable[[], bool]:
        """Asked when the answer is there: the call is over, whatever the answer to the question is."""
        return lambda: self._open.pop(call.id, None) is not None

    def _tool_job(self, frame: Frame) -> Job:
        call = self._track(frame)
        tool = self.tools.get(call.tool_name)

        def work() -> Any:
            if tool is None:
                raise LookupError(f'Host tool "{call.tool_name}" is not registered')
            return tool.run(frame.get("arguments") or {}, call)

        return Job(
            work=work,
            answer=lambda value: {"type": "host_tool_result", "id": call.id, "result": tool_result(value)},
            fail=lambda error: {
                "type": "host_tool_result",
                "id": call.id,
                "result": tool_result(error_text(error)),
                "isError": True,
            },
            is_wanted=self._wanted(call),
        )

    def _uri_job(self, frame: Frame) -> Job:
        call = self._track(frame)
        url = str(frame.get("url", ""))
        uri = self.uris.get(url.split(":", 1)[0].lower())

        def work() -> Any:
            if uri is None:
                raise LookupError(f"nothing is lent behind {url}")
            if frame.get("operation") != "write":
                return uri.read(url)
            if uri.write is None:
                raise PermissionError(f"{url} can only be read")
            return uri.write(url, str(frame.get("content", "")))

        return Job(
            work=work,
            answer=lambda value: uri_result(call.id, value),
            fail=lambda error: {"type": "host_uri_result", "id": call.id, "isError": True, "error": error_text(error)},
            is_wanted=self._wanted(call),
        )

    def _dialog_job(self, frame: Frame) -> Optional[Job]:
        dialogs, dialog_id = self.dialogs, str(frame.get("id"))
        if dialogs == "manual":
            return None
        if not callable(dialogs):
            self._send(dialog_answer(dialog_id, None))
            return None
        handler: DialogHandler = dialogs
        return Job(
            work=lambda: handler(frame),
            answer=lambda value: dialog_answer(dialog_id, value),
            fail=lambda error: dialog_answer(dialog_id, None),
            is_wanted=lambda: True,
        )


def tool_result(answer: ToolAnswer) -> Any:
    if isinstance(answer, Mapping):
        return answer
    if isinstance(answer, list):
        return {"content": answer}
    return {"content": [{"type": "text", "text": "" if answer is None else str(answer)}]}


def uri_result(request_id: str, value: Any) -> Frame:
    frame: Frame = {"type": "host_uri_result", "id": request_id}
    if isinstance(value, Mapping):
        return {**frame, **value}
    return frame if value is None else {**frame, "content": str(value)}


def dialog_answer(dialog_id: str, answer: DialogAnswer, timed_out: bool = False) -> Frame:
    frame: Frame = {"type": "extension_ui_response", "id": dialog_id}
    if answer is None:
        return {**frame, "cancelled": True, **({"timedOut": True} if timed_out else {})}
    return {**frame, "confirmed": answer} if isinstance(answer, bool) else {**frame, "value": str(answer)}


def error_text(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):
        return "the host has cancelled it"
    return str(error) or type(error).__name__
