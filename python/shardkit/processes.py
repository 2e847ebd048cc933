"""The processes of a run: how this one finds the others, for all sessions and programs that do not specify it."""

from __future__ import annotations

import os

from .errors import ShardKitError

_BACKENDS = ("local", "mpi", "nccl", "tcp")
_defaults: tuple[str, float] = ("local", 60.0)


def init(backend: str = "mpi", timeout: float = 60) -> None:
    """Selects the backend of the sessions and programs that follow and name none. Every process of the run makes the same calls.

    `"mpi"`: the processes of `mpirun`, each with a block of the ranks. `"tcp"`: the same for those of `torchrun` (`RANK`, `WORLD_SIZE`,
    `MASTER_ADDR` and the port after `MASTER_PORT`), or of `SK_RANK`, `SK_WORLD_SIZE` and `SK_ADDRESS`. `"nccl"`: a GPU for each rank,
    in processes that are started in any of these ways. `timeout`: seconds that ranks wait for each other."""
    global _defaults
    if backend not in _BACKENDS:
        raise ShardKitError(f"error: backend {backend!r}, expected one of: {', '.join(_BACKENDS)}")
    is_under_mpi = "OMPI_COMM_WORLD_SIZE" in os.environ
    if backend == "mpi" and not is_under_mpi and int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise ShardKitError("error: backend 'mpi' in one of several processes that mpirun has not started, expected mpirun, or backend 'tcp' or 'nccl' with torchrun")
    if backend == "tcp" and is_under_mpi and "SK_RANK" not in os.environ:
        raise ShardKitError("error: backend 'tcp' in a process that mpirun has started, expected backend 'mpi', or SK_RANK, SK_WORLD_SIZE and SK_ADDRESS")
    if (backend == "tcp" or (backend == "nccl" and not is_under_mpi)) and "SK_RANK" not in os.environ and "RANK" in os.environ:
        missing = [name for name in ("WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT") if name not in os.environ]
        if missing:
            raise ShardKitError(f"error: RANK is set without {', '.join(missing)}, expected all variables that torchrun sets")
        os.environ["SK_RANK"], os.environ["SK_WORLD_SIZE"] = os.environ["RANK"], os.environ["WORLD_SIZE"]
        # torchrun's store listens on MASTER_PORT itself.
        os.environ.setdefault("SK_ADDRESS", f"{os.environ['MASTER_ADDR']}:{int(os.environ['MASTER_PORT']) + 1}")
    _defaults = (backend, timeout)


def defaults() -> tuple[str, float]:
    """The backend and the timeout that init() has selected."""
    return _defaults
