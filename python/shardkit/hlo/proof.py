"""Whether XLA's SPMD partitioning of a program computes what the program does."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Sequence

from ..errors import ShardKitError, require
from ..tools import find_tool
from . import reader

_BEFORE, _AFTER = "before_spmd-partitioning", "after_spmd-partitioning"


@dataclasses.dataclass(frozen=True)
class XlaProof:
    """The outcome of `prove_xla`: true if the partitioned program is proven.

    `outcome`: proven, refused or not decided. `message`: empty if it is proven, else the instruction of HLO, its line in `after`,
    the reason, and the line of the model. `before` and `after`: the HLO text before and after SPMD partitioning. `ops`: how
    many ops both have in the form that is compared. `rules`: how often each rule of the proof was used."""

    outcome: str
    message: str
    before: str = dataclasses.field(repr=False)
    after: str = dataclasses.field(repr=False)
    ops: tuple[int, int] = (0, 0)
    rules: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.outcome == "proven"


def prove_xla(function: Callable[..., Any], *args: Any, **kwargs: Any) -> XlaProof:
    """Compiles `function`, jitted or not, with XLA, and proves that SPMD partitioning left what it computes.

    Arguments are arrays or `jax.ShapeDtypeStruct`, with shardings as for `jax.jit`, on devices that JAX has. The program is that of
    the example arguments' shapes, for all values. See docs/guides/ProveXLA.md."""
    require("jax", "jax", "compiling a function with XLA")
    import jax

    from ..jax.frontend import tracing

    jitted = function if hasattr(function, "lower") else jax.jit(function)
    with tracing():
        lowered = jitted.lower(*args, **kwargs)
    with tempfile.TemporaryDirectory(prefix="shardkit-") as folder:
        cached = jax.config.jax_enable_compilation_cache
        jax.config.update("jax_enable_compilation_cache", False)  # from which nothing would be dumped
        try:
            lowered.compile(compiler_options={"xla_dump_to": folder, "xla_dump_hlo_pass_re": "spmd-partitioning"})
        finally:
            jax.config.update("jax_enable_compilation_cache", cached)
        pairs = find_dumps(Path(folder))
        if not pairs:
            raise ShardKitError("error: XLA did no SPMD partitioning, expected arguments that are sharded on several devices")
        before, after = (path.read_text() for path in pairs[0])
    return prove_hlo(before, after, mesh=_find_mesh(jax.tree_util.tree_leaves((lowered.args_info, args, kwargs))))


def _find_mesh(leaves: Sequence[Any]) -> dict[str, int] | None:
    """The names and sizes of the only mesh of the arguments."""
    found = {}
    for leaf in leaves:
        mesh = getattr(getattr(leaf, "sharding", None), "mesh", None)
        if mesh is not None:
            found[tuple(mesh.shape.items())] = mesh
    return dict(next(iter(found))) if len(found) == 1 else None


def find_dumps(folder: Path) -> list[tuple[Path, Path]]:
    """The files before and after SPMD partitioning of each module in a folder of --xla_dump_to."""
    pairs = []
    for before in sorted(folder.glob(f"*.{_BEFORE}.txt")):
        module = ".".join(before.name.split(".")[:2])
        after = sorted(folder.glob(f"{module}.*.{_AFTER}.*.txt"))
        if len(after) != 1:
            raise ShardKitError(f"{before}: error: {len(after)} files are of this module after SPMD partitioning, expected one")
        pairs.append((before, after[0]))
    return pairs


def prove_hlo(before: str, after: str, *, before_path: str = "before", after_path: str = "after",
              mesh: Mapping[str, int] | None = None, certificate: str | None = None) -> XlaProof:  # fmt: skip
    """The same for HLO text before and after SPMD partitioning. `mesh`: names and sizes of the axes that messages use.
    `certificate`: a file for the certificate."""
    from .programs import import_hlo

    with _keep(after, after_path) as path:
        try:
            programs = import_hlo(before, after, before_path, path, mesh)
        except ShardKitError as error:
            text = re.sub(re.escape(path) + r"(:\d+):0:", rf"{path}\1:", str(error))
            raise ShardKitError(text.replace(path, after_path)) from None
        with tempfile.TemporaryDirectory(prefix="shardkit-") as folder:
            files = [Path(folder) / name for name in ("unsharded.mlir", "partitioned.mlir", "certificate.json")]
            files[0].write_text(programs.unsharded)
            files[1].write_text(programs.partitioned)
            command = [find_tool("shard-prove"), *map(str, files[:2]), f"--certificate={files[2]}"]
            done = subprocess.run(command, capture_output=True, text=True)
            message = _rewrite(done.stderr, after, path, after_path)
            if done.returncode not in (0, 1) or not files[2].exists():
                raise ShardKitError(message or f"error: shard-prove exited with {done.returncode}")
            text = files[2].read_text()
    if certificate:
        Path(certificate).write_text(text)
    functions = json.loads(text)["functions"]
    (function,) = functions
    return XlaProof(function["outcome"], message, before, after, (function["unsharded_ops"], function["ops"]), function["rules"])


@contextlib.contextmanager
def _keep(text: str, path: str) -> Iterator[str]:
    """A path of a file with the text, which messages quote lines of."""
    if Path(path).is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="shardkit-") as folder:
        file = Path(folder) / "after.txt"
        file.write_text(text)
        yield str(file)


def _rewrite(text: str, hlo: str, path: str, shown: str) -> str:
    """Messages of shard-prove, with the instructions of HLO in place of the ops that these became."""
    lines = hlo.split("\n")
    sources = reader.StackFrames(hlo)
    made = []
    quoted = False
    text = re.sub(r"^<unknown>:0: error: ", f"{shown}: error: ", text, flags=re.M)
    text = re.sub(r"^<unknown>:0: note: loc\(\"(.*?)\"\): ", r"note: \1: ", text, flags=re.M)
    for line in text.rstrip("\n").split("\n"):
        match = re.match(re.escape(path) + r":(\d+):\d+: (error|note): (.*)", line)
        if not match:
            if not (quoted and (line.startswith(" ") or not line)):
                made.append(line)
                quoted = False
            continue
        quoted = True
        number, kind, said = int(match[1]), match[2], match[3]
        instruction = reader.Instruction.parse(lines[number - 1])
        if instruction is None:
            made.append(f"{shown}:{number}: {kind}: {said}")
            continue
        said = re.sub(r"^(@\S+ is (?:refused|not decided) at )[\w.]+:", rf"\g<1>{instruction.opcode}:", said)
        said = re.sub(r"^\w+\.\w+: ", f"{instruction.opcode}: ", said)
        made.append(f"{shown}:{number}: {kind}: {said}")
        made.append(f"  {instruction.text}")
        if kind == "error" and (source := sources.find(lines[number - 1])):
            made.append(f"{source}: note: the line of the model")
    return "\n".join(made)
