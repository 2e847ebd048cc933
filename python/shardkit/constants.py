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
    name = "constant_" + hashlib.blake2b(data.data, digest_size=16).hexdigest()
    constants[name] = data
    return name


def detach_resources(text: str, constants: Constants) -> str:
    """The text of a module without the resources at its end: large ones are kept among the constants and named by these."""
    body, found, tail = text.partition("\n{-#")
    if not found:
        return text
    data = {name: hexadecimal[8:] for name, hexadecimal in re.findall(r'^\s*([^\s:"]+): "0x([0-9a-fA-F]*)"', tail, re.MULTILINE)}  # after the alignment

    def replace(match: re.Match[str]) -> str:
        name, type = match[1], match[2]
        if name not in data:
            return match[0]
        if len(data[name]) // 2 <= LARGE and not type.endswith("xi1"):  # whose text has other elements
            return f'dense<"0x{data[name]}"> : tensor<{type}>'
        return f"dense_resource<{add_constant(constants, np.frombuffer(bytes.fromhex(data[name]), np.uint8))}> : tensor<{type}>"

    return re.sub(r"dense_resource<([^<>]*)> : tensor<([^<>]*)>", replace, body) + "\n"


def attach_resources(text: str, constants: Mapping[str, np.ndarray]) -> str:
    """The text of a module with the elements of its resources, as MLIR writes them."""
    alignment = (64).to_bytes(4, "little").hex()
    lines = ",\n".join(f'      {name}: "0x{alignment}{data.tobytes().hex()}"' for name, data in constants.items() if name in text)
    return f"{text}\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{lines}\n    }}\n  }}\n#-}}\n" if lines else text
