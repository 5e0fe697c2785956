"""How an agent is started: shared by both clients."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Dict, List, Mapping, Optional, Sequence, Union

from .commands import ANSWERED_LATE


@dataclass(frozen=True)
class Options:
    """What the constructors take."""

    command: Union[str, Sequence[str]] = "tiller"
    args: Sequence[str] = ()
    cwd: Union[str, "os.PathLike[str]", None] = None
    env: Mapping[str, Optional[str]] = field(default_factory=dict)
    model: Optional[str] = None
    updates: str = "delta"
    expect_ready: bool = True
    start_timeout: float = 30.0
    request_timeout: float = 30.0
    max_events: int = 10_000
    max_stderr_chunks: int = 512

    def argv(self) -> List[str]:
        command = [self.command] if isinstance(self.command, str) else list(self.command)
        model = [] if self.model is None else ["--model", self.model]
        return [*command, "--mode", "rpc", *model, *self.args]

    def environment(self) -> Dict[str, str]:
        """The own environment with the changes; None takes a variable away."""
        merged: Dict[str, Optional[str]] = {**os.environ, **self.env}
        return {name: value for name, value in merged.items() if value is not None}

    def timeout_of(self, command: str, asked: Optional[float]) -> Optional[float]:
        """Seconds to wait for an answer; None is for ever."""
        if asked is None:
            return None if command in ANSWERED_LATE else _finite(self.request_timeout)
        return _finite(asked)


def _finite(seconds: float) -> Optional[float]:
    return None if math.isinf(seconds) else seconds
