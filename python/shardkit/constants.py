"""Large constants: the IR names their elements as resources, and these are kept next to it."""

from __future__ import annotations

import hashlib
from typing import Mapping

import numpy as np

LARGE = 1 << 16
"""The bytes of the largest constant that stays in the IR."""

Constants = dict[str, np.ndarray]
"""The bytes of the elements, by the names of resources; equal elements have one name."""


def add_constant(constants: Constants, elements: np.ndarray) -> str:
    """Keeps elements; returns the name of their resource."""
    data = np.ascontiguousarray(elements).reshape(-1).view(np.uint8)
    name = "constant_" + hashlib.blake2b(data.data, digest_size=16).hexdigest()
    constants[name] = data
    return name


def attach_resources(text: str, constants: Mapping[str, np.ndarray]) -> str:
    """The text of a module with the elements of its resources, as MLIR writes them."""
    alignment = (64).to_bytes(4, "little").hex()
    lines = ",\n".join(f'      {name}: "0x{alignment}{data.tobytes().hex()}"' for name, data in constants.items() if name in text)
    return f"{text}\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{lines}\n    }}\n  }}\n#-}}\n" if lines else text
