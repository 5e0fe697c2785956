"""For programs that were written against the Python package ``xcsh-rpc``: change the import, keep the calls.

Constructor, command line and names of methods are those of its ``RpcClient``. Answers are :class:`Record`: dictionaries
as they came over the wire whose fields can also be read as attributes, in the spelling of Python.
"""

from __future__ import annotations

import collections
import os
import threading
import time
from typing import Any, Callable, Deque, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from .client import Run, TillerClient
from .commands import COMMANDS
from .errors import PromptError, RequestTimeoutError, TillerError
from .framing import Frame
from .hosting import DIALOG_METHODS, HostTool, dialog_answer

#: The types that a listener for unknown notifications is not called with.
_NOT_UNKNOWN = frozenset(
    """ready agent_start agent_end turn_start turn_end message_start message_update message_end tool_execution_start
    tool_execution_update tool_execution_end auto_compaction_start auto_compaction_end auto_retry_start auto_retry_end
    ttsr_triggered todo_reminder todo_auto_clear extension_ui_request extension_error host_tool_call
    host_tool_cancel""".split()
)


class Record(Dict[str, Any]):
    """A dictionary of the wire: ``state["sessionId"]`` is also ``state.session_id``; what is absent is None."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        head, *rest = name.split("_")
        camel = head + "".join(word.capitalize() for word in rest)
        return record(self.get(name, self.get(camel)))


def record(value: Any) -> Any:
    """The same value, with dictionaries as records."""
    if isinstance(value, dict):
        return value if isinstance(value, Record) else Record(value)
    return [record(item) for item in value] if isinstance(value, list) else value


class Turn(List[Frame]):
    """What came of ``prompt_and_wait``: its events as a list, and what most programs want to know of them."""

    def __init__(self, events: Iterable[Any], run: Run) -> None:
        super().__init__(record(list(events)))
        self.result = record(run.result)
        #: The last assistant message, if there is one.
        self.assistant_message = record(run.message)
        self.assistant_text = run.text

    @property
    def events(self) -> List[Frame]:
        return list(self)


class RpcClient(TillerClient):
    """Takes what the ``RpcClient`` of ``xcsh-rpc`` takes. ``executable`` is ``tiller`` here, in the xcsh dialect."""

    def __init__(
        self,
        *,
        command: Optional[Sequence[str]] = None,
        executable: str = "tiller",
        provider: Optional[str] = None,
        model: Optional[str] = None,
        session_dir: Union[str, "os.PathLike[str]", None] = None,
        cwd: Union[str, "os.PathLike[str]", None] = None,
        env: Optional[Mapping[str, str]] = None,
        thinking: Optional[str] = None,
        append_system_prompt: Optional[str] = None,
        provider_session_id: Optional[str] = None,
        tools: Optional[Sequence[str]] = None,
        custom_tools: Sequence[Any] = (),
        no_session: bool = False,
        no_skills: bool = False,
        no_rules: bool = False,
        no_title: bool = False,
        rpc_defaults: bool = True,
        extra_args: Sequence[str] = (),
        startup_timeout: float = 30.0,
        request_timeout: float = 30.0,
        max_event_history: int = 10_000,
        max_stderr_chunks: int = 512,
    ) -> None:
        valued: List[Tuple[str, Any]] = [
            ("--provider", provider),
            ("--model", model),
            ("--session-dir", session_dir),
            ("--thinking", thinking),
            ("--append-system-prompt", append_system_prompt),
            ("--provider-session-id", provider_session_id),
            ("--tools", ",".join(tools) if tools else None),
        ]
        flags: List[Tuple[str, bool]] = [
            ("--no-tools", tools is not None and not tools),
            ("--no-session", no_session),
            ("--no-skills", no_skills),
            ("--no-rules", no_rules),
            ("--no-title", no_title or rpc_defaults),
        ]
        given = [part for flag, value in valued if value is not None for part in (flag, os.fspath(value))]
        # Under the name of xcsh the program speaks so by itself.
        speaks = ["--dialect", "xcsh"] if command is None and os.path.basename(executable) == "tiller" else []
        super().__init__(
            list(command) if command is not None else executable,
            args=[*speaks, *given, *(flag for flag, wanted in flags if wanted), *extra_args],
            cwd=cwd,
            env=env,
            tools=[_host_tool(tool) for tool in custom_tools],
            on_dialog="manual",
            updates="snapshot",
            start_timeout=startup_timeout,
            request_timeout=request_timeout,
            max_stderr_chunks=max_stderr_chunks,
        )
        self._history: Deque[Frame] = collections.deque(maxlen=max_event_history)
        self._requests: Deque[Frame] = collections.deque(maxlen=max_event_history)
        self._listeners: Dict[str, List[Callable[[Any], None]]] = collections.defaultdict(list)
        self._one_prompt = threading.Lock()
        self._news = threading.Condition()

    # Start and end under the names of xcsh-rpc

    def start(self) -> "RpcClient":
        if not self.is_running:
            super().start()
            self.on_event(self._keep)
        return self

    def stop(self) -> None:
        self.close()

    @property
    def event_history(self) -> List[Frame]:
        """The newest events, at most ``max_event_history``."""
        return list(self._history)

    # Commands

    def _command(self, type_: str, fields: Dict[str, Any], timeout: Optional[float]) -> Any:
        return record(super()._command(type_, fields, timeout))

    def request_raw(self, command: Union[str, Mapping[str, Any]], timeout: Optional[float] = None, **fields: Any) -> Any:
        """Sends any command, as a name and fields or as one dictionary, and gives back the ``data`` of its answer."""
        if isinstance(command, str):
            return self._command(command, fields, timeout)
        given = {name: value for name, value in command.items() if name not in ("id", "type")}
        return self._command(str(command["type"]), {**given, **fields}, timeout)

    def get_messages(self, **options: Any) -> Any:
        return record(super().get_messages(**options)["messages"])

    def get_available_models(self, **options: Any) -> Any:
        return record(super().get_available_models(**options)["models"])

    def get_branch_messages(self, **options: Any) -> Any:
        return record(super().get_branch_messages(**options)["messages"])

    def get_last_assistant_text(self, **options: Any) -> Any:
        return super().get_last_assistant_text(**options).get("text")

    # The plan

    def get_todos(self) -> Any:
        """The phases of the plan."""
        return record(self.get_state()["todoPhases"])

    def set_todos(self, phases: Any, **options: Any) -> Any:
        """Replaces the plan. A phase is a dictionary; a task is one or only its text. Ids that are missing are given."""
        return record(super().set_todos(_with_ids(phases), **options)["todoPhases"])

    def clear_todos(self) -> Any:
        return self.set_todos([])

    # Prompts

    def prompt_and_wait(
        self, message: str, images: Optional[List[Any]] = None, timeout: Optional[float] = 60.0
    ) -> Turn:
        """Sends a prompt and waits for its end. One at a time: a second one is refused while the first is waited for."""
        if not self._one_prompt.acquire(blocking=False):
            raise TillerError("prompt_and_wait is already waiting for a prompt: one at a time")
        try:
            run = self.run(message, images=images, timeout=timeout)
            events = list(run)
            if run._channel.late_failure is not None:
                raise run._channel.late_failure
            if run.result is not None and run.result["status"] == "error":
                raise PromptError(dict(run.result))
            return Turn(events, run)
        finally:
            self._one_prompt.release()

    def collect_events(self, timeout: Optional[float] = 60.0) -> List[Frame]:
        """All events from now on until the agent is idle."""
        collected: List[Frame] = []
        deadline = None if timeout is None else time.monotonic() + timeout
        with self.events() as events:
            while not collected or collected[-1]["type"] != "agent_end" or collected[-1].get("willRetry"):
                collected.append(record(events.next(None if deadline is None else deadline - time.monotonic())))
        return collected

    # Tools of the host

    def set_custom_tools(self, tools: Sequence[Any]) -> None:
        """Lends these tools: :class:`tiller_rpc.HostTool`, or anything with name, description, parameters and execute."""
        self.lend_tools([_host_tool(tool) for tool in tools])

    # Dialogs

    def install_headless_ui(self) -> None:
        """From now on every dialog is cancelled at once."""
        self._hosting.dialogs = "cancel"
        while self._requests:
            self.cancel_ui_request(self._requests.popleft())

    def next_ui_request(self, timeout: Optional[float] = None) -> Any:
        """Waits for the next request of an extension, dialog or not."""
        with self._news:
            if not self._news.wait_for(lambda: bool(self._requests) or not self.is_running, timeout):
                raise RequestTimeoutError("waited too long for a request of an extension")
            if not self._requests:
                raise TillerError("the agent has ended: there are no more requests of extensions")
            return self._requests.popleft()

    def send_ui_value(self, request: Any, value: str) -> None:
        self.send(dialog_answer(_id_of(request), value))

    def send_ui_confirmation(self, request: Any, confirmed: bool) -> None:
        self.send(dialog_answer(_id_of(request), bool(confirmed)))

    def cancel_ui_request(self, request: Any, timed_out: bool = False) -> None:
        self.send(dialog_answer(_id_of(request), None, timed_out))

    # Listeners

    def on_notification(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        """Calls the listener with every event."""
        return self._add_listener("every", listener)

    def on_ui_request(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        return self._add_listener("extension_ui_request", listener)

    def on_unknown_notification(self, listener: Callable[[Any], None]) -> Callable[[], None]:
        """Calls the listener with events that xcsh does not have."""
        return self._add_listener("unknown", listener)

    def _add_listener(self, kind: str, listener: Callable[[Any], None]) -> Callable[[], None]:
        self._listeners[kind].append(listener)
        return lambda: self._listeners[kind].remove(listener)

    def _fail(self, router: Any, error: BaseException) -> None:
        super()._fail(router, error)
        with self._news:
            self._news.notify_all()

    def _keep(self, event: Any) -> None:
        known = record(event)
        kind = event["type"]
        with self._news:
            self._history.append(known)
            is_dialog = event.get("method") in DIALOG_METHODS
            if kind == "extension_ui_request" and not (is_dialog and self._hosting.dialogs == "cancel"):
                self._requests.append(known)
            self._news.notify_all()
        names = ["every", kind, *([] if kind in _NOT_UNKNOWN else ["unknown"])]
        failures = [_failure_of(listener, known) for name in names for listener in list(self._listeners[name])]
        for error in filter(None, failures):
            raise error


def _failure_of(listener: Callable[[Any], None], event: Frame) -> Optional[Exception]:
    """The other listeners are called all the same."""
    try:
        listener(event)
    except Exception as error:
        return error
    return None


def _host_tool(tool: Any) -> HostTool:
    if isinstance(tool, HostTool):
        return tool
    fields: Mapping[str, Any] = tool if isinstance(tool, Mapping) else _Attributes(tool)
    read: Callable[[str], Any] = fields.get
    run = next((read(name) for name in ("run", "execute", "handler") if callable(read(name))), None)
    if run is None:
        raise TillerError(f'the tool "{read("name")}" has nothing to run: give it "execute"')
    return HostTool(
        name=read("name"),
        description=read("description"),
        parameters=read("parameters") or {"type": "object", "properties": {}},
        run=run,
        label=read("label"),
        hidden=bool(read("hidden")),
    )


class _Attributes(Dict[str, Any]):
    """The attributes of an object, to be read like a dictionary."""

    def __init__(self, owner: Any) -> None:
        super().__init__({name: getattr(owner, name) for name in dir(owner) if not name.startswith("_")})


def _with_ids(phases: Any) -> List[Any]:
    """Phases and tasks are numbered, so that a program can refer to them before the answer is there."""
    numbered: List[Any] = []
    tasks = 0
    for index, phase in enumerate(phases, 1):
        items: List[Any] = []
        for item in phase.get("tasks", []):
            tasks += 1
            task = {"content": item} if isinstance(item, str) else dict(item)
            items.append({"id": f"task-{tasks}", "status": "pending", **task})
        numbered.append({"id": f"phase-{index}", **phase, "tasks": items})
    return numbered


def _id_of(request: Any) -> str:
    return request if isinstance(request, str) else str(request["id"])


__all__ = ["COMMANDS", "Record", "RpcClient", "Turn"]
