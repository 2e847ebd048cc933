"""Large constants: the IR names their elements as resources, and these are kept next to it."""

from __future__ import annotations

import hashlib
import re
from typing import Mapping

import numpy as np

LARGE = 1 << 16
"""The bytes of the largest constant that stays in the IR."""

Constants = dict[str, np.ndarray]
"""The bytes of the elements, by the names of resources; equal elements have one name."""


def add_constant(constants: Constants, elements: np.ndarray) -> str:
    """Keeps elements; returns the name of their resource."""
    data = np.ascontiguousarray(elements).reshape(-1).view(np.uint8)
    name = "constant_" + hashlib.blake2b(data, digest_size=16).hexdigest()
    constants[name] = data
    return name


def detach_resources(text: str, element_type: str) -> tuple[str, Constants]:
    """Takes large resources of such elements out of a module's text."""
    constants: Constants = {}
    ir, separator, tail = text.rpartition("\n{-#")
    if not separator:
        return text, constants
    kept = []
    for line in tail.split("\n"):
        key, quote, digits = line.partition(': "0x')
        used = rf"dense_resource<{re.escape(key.strip())}>"
        if not quote or len(digits) < 2 * LARGE or not re.search(rf"{used} : tensor<(?:\d+x)*(?:{element_type})>", ir):
            kept.append(line)
            continue
        # After the alignment.
        elements = np.frombuffer(bytes.fromhex(digits[8 : digits.rindex('"')]), np.uint8)
        ir = re.sub(used, f"dense_resource<{add_constant(constants, elements)}>", ir)
    return ir + separator + "\n".join(kept), constants


def attach_resources(text: str, constants: Mapping[str, np.ndarray]) -> str:
    """The text of a module with the elements of its resources, as MLIR writes them."""
    alignment = (64).to_bytes(4, "little").hex()
    lines = ",\n".join(f'      {name}: "0x{alignment}{data.tobytes().hex()}"' for name, data in constants.items() if name in text)
    return f"{text}\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{lines}\n    }}\n  }}\n#-}}\n" if lines else text
