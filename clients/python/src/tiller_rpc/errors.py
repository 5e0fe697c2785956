"""What can go wrong between a host and the agent. Everything here is a :class:`TillerError`."""

from __future__ import annotations

from typing import Any, Dict, Optional


class TillerError(Exception):
    """The mother of all errors of this package."""


class AgentStartError(TillerError):
    """The agent could not be started, ended at once, or was not ready in time. The text has the end of its stderr."""


class AgentExitedError(TillerError):
    """The agent is gone while something was still expected of it."""

    def __init__(self, exit_code: Optional[int], stderr: str) -> None:
        super().__init__(f"the agent has ended ({exit_text(exit_code)}){stderr_text(stderr)}")
        self.exit_code = exit_code
        self.stderr = stderr


class ClientClosedError(TillerError):
    """The client was not started, or is closed."""


class CommandError(TillerError):
    """The agent answered ``success: false``."""

    def __init__(self, command: str, error: str, response: Optional[Dict[str, Any]] = None) -> None:
        super().__init__(f"{command}: {error}")
        self.command = command
        self.error = error
        self.response = response or {}


class PromptError(TillerError):
    """A prompt did not come to a good end; ``result`` is its ``prompt_result``."""

    def __init__(self, result: Dict[str, Any]) -> None:
        error = result.get("error") or {}
        super().__init__(f"the prompt ended as {result.get('status')}: {error.get('message', 'no reason was told')}")
        self.result = result


class RequestTimeoutError(TillerError, TimeoutError):
    """No answer in time."""


class EventOverflowError(TillerError):
    """Nobody read these events while others waited for answers, and they became too many."""


def exit_text(code: Optional[int]) -> str:
    if code is None:
        return "its exit code is not known"
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def stderr_text(stderr: str) -> str:
    return f". Its stderr ends with:\n{stderr.strip()}" if stderr.strip() else ", and its stderr is empty"
