"""Drives Tiller, the headless coding agent, and agents that speak like it, over their standard streams."""

from .aio import AsyncEvents, AsyncRun, AsyncTillerClient
from .client import Events, Run, TillerClient
from .errors import (
    AgentExitedError,
    AgentStartError,
    ClientClosedError,
    CommandError,
    EventOverflowError,
    PromptError,
    RequestTimeoutError,
    TillerError,
)
from .hosting import HostTool, HostUri, ToolCallContext
from .messages import MessageBuilder

__all__ = [
    "AgentExitedError",
    "AgentStartError",
    "AsyncEvents",
    "AsyncRun",
    "AsyncTillerClient",
    "ClientClosedError",
    "CommandError",
    "EventOverflowError",
    "Events",
    "HostTool",
    "HostUri",
    "MessageBuilder",
    "PromptError",
    "RequestTimeoutError",
    "Run",
    "TillerClient",
    "TillerError",
    "ToolCallContext",
]
