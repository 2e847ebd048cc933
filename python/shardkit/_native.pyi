"""What runs in each call of a session: runtime/lib/Python."""

from typing import Any, Callable

import numpy as np
from typing_extensions import Self

from .session import Session, Value
from .session import Array as SessionArray

def check(status: int) -> None:
    """Raises the error of a function of the C API that returned it, or what a signal handler raised meanwhile."""

def watch_signals() -> None:
    """Handlers of signals run while this thread, the main one, waits in the runtime."""

class Type:
    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...], nbytes: int) -> None: ...

class Handle:
    address: int
    """0 once it is closed."""
    def __init__(self, address: int) -> None: ...
    def close(self) -> None: ...

class Array:
    def __init__(self, address: int, session: Session, value: Value) -> None: ...
    @property
    def _handle(self) -> int: ...
    @property
    def value(self) -> Value: ...
    def numpy(self, is_read_only: bool = True) -> np.ndarray:
        """The full value. Elements that are written where it is not read-only may be those of the array itself."""

class Function:
    def __new__(
        cls,
        handle: Handle,
        number: int,
        session: Session,
        array_type: type[SessionArray],
        arguments: list[Value],
        results: list[Value],
        indices: dict[str, int],
        match: Callable[[Value, Any], np.ndarray],
    ) -> Self: ...
    def __call__(self, *args: Any, donate: bool = False, wait: bool = True, **kwargs: Any) -> list[SessionArray]: ...
    def call(self, given: list[Any], flags: int = 0) -> list[SessionArray]:
        """Of NumPy arrays, arrays of the session, or None for what is bound."""
