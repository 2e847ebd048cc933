#!/usr/bin/env python3
"""Print the cosine similarity of sentences, in hundredths. NumPy only.

    similarity.py EMBEDDING.npy [--sentences FILE] [--against OTHER.npy]
"""

import argparse
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LABEL = 32


def load(path):
    try:
        values = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        sys.exit(f"error: {path}: {error}")
    if values.ndim != 2 or not np.issubdtype(values.dtype, np.floating):
        sys.exit(f"error: {path}: {values.dtype}{list(values.shape)}, expected floats [n, width]")
    return values.astype(np.float64)


def label(number, text):
    text = text if len(text) <= LABEL else text[: LABEL - 1].rstrip() + "…"
    return f"{number:>3} {text:<{LABEL}}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("embedding", metavar="EMBEDDING.npy")
    parser.add_argument("--sentences", default=os.path.join(HERE, "sentences.txt"))
    parser.add_argument("--against", metavar="OTHER.npy", help="print the largest absolute difference")
    options = parser.parse_args()

    embedding = load(options.embedding)
    with open(options.sentences, encoding="utf-8") as file:
        sentences = [line.strip() for line in file if line.strip()]
    if len(sentences) != len(embedding):
        sys.exit(
            f"error: {options.embedding}: {len(embedding)} rows, "
            f"expected {len(sentences)} as in {options.sentences}"
        )
    length = np.linalg.norm(embedding, axis=1, keepdims=True)
    unit = embedding / np.maximum(length, 1e-12)
    print(" " * (LABEL + 4) + "".join(f"{n:4d}" for n in range(1, len(sentences) + 1)))
    for number, (sentence, row) in enumerate(zip(sentences, unit @ unit.T), 1):
        cells = "".join(
            f"{100 * value:4.0f}" if np.isfinite(value) else " nan" for value in row + 0.0
        )
        print(label(number, sentence) + cells.replace(" -0", "  0"))
    if options.against:
        other = load(options.against)
        if other.shape != embedding.shape:
            sys.exit(f"error: {options.against}: shape {other.shape}, expected {embedding.shape}")
        print(f"largest absolute difference: {np.abs(embedding - other).max():.3g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
