"""Values that depend on no input and no weight, while a module is traced.

A branch, a number or a size that such values decide is decided in the trace: the stride of a convolution in a buffer, a mask that a
module makes of ones where the call has none, the largest of positions that it counts itself. What data decide is left to the trace."""

from __future__ import annotations

from typing import Any, Iterable, Mapping

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map_only

_LARGEST = 1 << 20
"""Elements of a value that is kept."""

_FACTORIES = {
    "arange", "as_tensor", "asarray", "eye", "from_numpy", "full", "linspace", "logspace", "ones", "scalar_tensor", "tensor",
    "tril_indices", "triu_indices", "zeros",
}  # fmt: skip
# Any elements are right: a module writes its own before it reads them.
_EMPTY = {"empty", "empty_like", "new_empty"}
# Of another tensor they read the shape and the type alone.
_OF_A_SHAPE = {"empty_like", "full_like", "new_empty", "new_full", "new_ones", "new_zeros", "ones_like", "zeros_like"}
_UNINITIALIZED = {"empty_strided", "new_empty_strided", "resize_", "resize_as_", "set_"}
_NUMBERS = {
    "__array__", "__bool__", "__format__", "__complex__", "__contains__", "__float__", "__index__", "__int__", "allclose", "equal", "is_nonzero", "item",
    "numpy", "tolist",
}  # fmt: skip
# Values decide the sizes of their results.
_SIZED = {"_unique2", "argwhere", "bincount", "masked_select", "nonzero", "unique", "unique_consecutive", "unique_dim"}
# Their sizes and positions may be tensors.
_OF_SIZES = {
    "arange", "broadcast_to", "chunk", "empty", "expand", "eye", "full", "narrow", "new_empty", "new_full", "new_ones", "new_zeros", "ones", "pad", "repeat", "reshape",
    "roll", "select", "split", "split_with_sizes", "unflatten", "view", "zeros",
}  # fmt: skip
_INDEXED = {"__getitem__", "__setitem__", "index_put", "index_put_"}


class Concrete(TorchFunctionMode):  # type: ignore[misc]
    """Computes beside the trace what depends on constants alone, and has the results where PyTorch asks for numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[int, tuple[Any, torch.Tensor | None]] = {}
        """Traced tensors, by their ids, with their values; None where these depend on data by now."""
        self.storages: dict[int, tuple[Any, Any]] = {}
        """Of constants, with copies: what the trace writes to is not theirs."""
        self.written: set[int] = set()
        """Memory that holds what depends on data."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        if name in _INDEXED and isinstance(args[0], torch.Tensor):
            args = (args[0], self._index(args[1], name), *args[2:])
        elif name in _OF_SIZES:
            first = 0 if name in _FACTORIES or name == "empty" else 1
            args, kwargs = (*args[:first], *self._read_sizes(args[first:])), self._read_sizes(kwargs)
        elif name == "masked_select" and len(args) == 2 and args[0].shape == args[1].shape and self._find(args[1]) is not None:
            return args[0][self._index(args[1], name)]
        leaves = tree_leaves((args, kwargs))
        given = {id(v): v for v in leaves if isinstance(v, torch.Tensor)}
        found = {key: self._find(v) for key, v in given.items()}
        if name in _OF_A_SHAPE and found.get(id(args[0]), args) is None:
            shape = () if name.startswith("new_") else args[0].shape
            if all(isinstance(size, int) for size in shape):
                with _disable_current_modes():
                    found[id(args[0])] = torch.zeros(shape, dtype=args[0].dtype)
        known = {key: value for key, value in found.items() if value is not None}
        is_symbolic = any(map(_is_symbolic, leaves))
        if len(known) < len(given) or is_symbolic or name in _UNINITIALIZED or not (given or name in _FACTORIES or name in _EMPTY):
            return self._trace(func, name, args, kwargs, given, known)
        try:
            value = _compute(func, _replace(args, known), _replace(kwargs, known))
        except Exception:  # the trace raises it again
            return self._trace(func, name, args, kwargs, given, known)
        tensors = [v for v in tree_leaves(value) if isinstance(v, torch.Tensor)]
        if name in _EMPTY and isinstance(value, torch.Tensor):
            with _disable_current_modes(), torch._C.DisableTorchFunction():
                value.zero_()
        if value is _RANDOM or any(type(v) is not torch.Tensor or _is_wrapped(v) for v in tensors):
            return self._trace(func, name, args, kwargs, given, known)
        if name in _NUMBERS or _is_sized_by_values(name, args, kwargs):
            return value
        result = func(*args, **kwargs)
        made = [v for v in tree_leaves(result) if isinstance(v, torch.Tensor)]
        if len(made) == len(tensors) and all(v.numel() <= _LARGEST for v in tensors):
            self.values |= {id(traced): (traced, v) for traced, v in zip(made, tensors)}
        else:
            self._forget(known.values())
        return result

    def _trace(self, func: Any, name: str, args: Any, kwargs: Any, given: Mapping[int, Any], known: Mapping[int, torch.Tensor]) -> Any:
        """A call that depends on more than constants. It may change some, whose values are not known then."""
        versions = {key: given[key]._version for key in known if key in given}
        result = func(*args, **kwargs)
        is_changing = (name.endswith("_") and not name.endswith("__")) or name.startswith(("__i", "__set", "_foreach")) or "out" in kwargs
        changed = {id(v) for v in tree_leaves((args[:1], kwargs.get("out"))) if isinstance(v, torch.Tensor)} if is_changing else set()
        self._forget(value for key, value in known.items() if key in changed or given[key]._version != versions[key])
        return result

    def _index(self, index: Any, name: str) -> Any:
        """Masks with known values are the indices of their elements, and indices with known values are numbers."""
        entries: list[Any] = []
        for entry in index if isinstance(index, (tuple, list)) else (index,):
            mask = self._find(entry) if isinstance(entry, torch.Tensor) and entry.dtype == torch.bool and entry.dim() else None
            if mask is not None:
                with _disable_current_modes(), torch._C.DisableTorchFunction():
                    entries += mask.nonzero(as_tuple=True)
            elif name.startswith("__"):
                parts = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else (entry,)
                read = self._read_sizes(parts)
                entries.append(slice(*read) if isinstance(entry, slice) else read[0])
            else:
                entries.append(entry)
        return entries if isinstance(index, list) else tuple(entries)

    def _read_sizes(self, args: Any) -> Any:
        """Integers that are known are numbers."""

        def read(v: torch.Tensor) -> Any:
            is_size = v.dim() == 0 and v.dtype in (torch.int64, torch.int32, torch.int16, torch.int8)
            value = self._find(v) if is_size else None
            if value is None:
                return v
            with _disable_current_modes(), torch._C.DisableTorchFunction():
                return value.item()

        return tree_map_only(torch.Tensor, read, args)

    def _find(self, tensor: torch.Tensor) -> torch.Tensor | None:
        if id(tensor) in self.values:
            return self.values[id(tensor)][1]
        if type(tensor) not in (torch.Tensor, torch.nn.Buffer) or tensor.requires_grad or _is_wrapped(tensor) or tensor.layout != torch.strided:
            return None
        with _disable_current_modes(), torch._C.DisableTorchFunction():
            storage = tensor.untyped_storage()
            _, copy = self.storages.setdefault(storage.data_ptr(), (storage, storage.clone()))
            value = torch.empty(0, dtype=tensor.dtype).set_(copy, tensor.storage_offset(), tensor.size(), tensor.stride())
        known = None if copy.data_ptr() in self.written else value
        self.values[id(tensor)] = tensor, known
        return known

    def _forget(self, changed: Iterable[torch.Tensor]) -> None:
        """All values in the memory of these."""
        memory = {v.untyped_storage().data_ptr() for v in changed}
        if memory:
            self.values = {k: (t, None if v is None or v.untyped_storage().data_ptr() in memory else v) for k, (t, v) in self.values.items()}
            self.written |= memory


def _is_symbolic(value: Any) -> bool:
    """A size that is not known, or a slice that one limits."""
    parts = (value.start, value.stop, value.step) if isinstance(value, slice) else (value,)
    return any(isinstance(v, (torch.SymInt, torch.SymFloat, torch.SymBool)) for v in parts)


def _compute(func: Any, args: Any, kwargs: Any) -> Any:
    """What a function of constants returns; `_RANDOM` if it draws random numbers."""
    with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
        before = torch.get_rng_state()
        value = func(*args, **kwargs)
        is_random = "generator" in kwargs or not torch.equal(before, torch.get_rng_state())
        torch.set_rng_state(before)
    return _RANDOM if is_random else value


_RANDOM = object()


def _replace(args: Any, values: Mapping[int, torch.Tensor]) -> Any:
    return tree_map_only(torch.Tensor, lambda v: values[id(v)], args)


def _is_wrapped(tensor: torch.Tensor) -> bool:
    return isinstance(tensor, FakeTensor) or torch._is_functional_tensor(tensor) or torch._C._functorch.is_functorch_wrapped_tensor(tensor) or tensor.is_meta


def _is_sized_by_values(name: str, args: Any, kwargs: Any) -> bool:
    if name == "repeat_interleave":
        return len([v for v in tree_leaves((args, kwargs)) if isinstance(v, torch.Tensor)]) > 1 or len(args) + len(kwargs) == 1
    if name == "one_hot":
        return bool((args[1] if len(args) > 1 else kwargs.get("num_classes", -1)) < 0)
    if name == "__getitem__":
        return any(isinstance(v, torch.Tensor) and v.dtype in (torch.bool, torch.uint8) for v in tree_leaves(args[1]))
    return name in _SIZED or (name == "where" and len(args) + len(kwargs) == 1)
