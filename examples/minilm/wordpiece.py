#!/usr/bin/env python3
"""Tokenise sentences for an uncased BERT model: text to .npy, NumPy only.

    wordpiece.py VOCAB.txt [SENTENCES.txt] [--length 64] [--output-dir DIR]

writes `input_ids.npy` and `attention_mask.npy`, int32 [sentences, length]. The
steps are those of BERT's BasicTokenizer (clean, lower case, strip accents, split
on white space and punctuation) and of its greedy longest-match WordPiece.
"""

import argparse
import os
import sys
import unicodedata

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST_WORD = 100


def is_cjk(char):
    code = ord(char)
    return any(
        low <= code <= high
        for low, high in (
            (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF),
            (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
            (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
        )
    )


def is_punctuation(char):
    # All ASCII symbols count, also those that Unicode calls Sm or Sk: $ + < = > ^ ` | ~
    code = ord(char)
    if 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126:
        return True
    return unicodedata.category(char).startswith("P")


def basic_tokens(text):
    """Lower-case words and punctuation marks, without accents."""
    clean = []
    for char in text:
        if char in "\t\n\r" or unicodedata.category(char) == "Zs":
            clean.append(" ")
        elif ord(char) in (0, 0xFFFD) or unicodedata.category(char) in ("Cc", "Cf"):
            continue
        else:
            clean.append(f" {char} " if is_cjk(char) else char)
    tokens = []
    # One character at a time, as the vocabulary was made: no final sigma.
    for word in "".join(c.lower() for c in "".join(clean)).split():
        current = ""
        for char in unicodedata.normalize("NFD", word):
            if unicodedata.category(char) == "Mn":
                continue
            if is_punctuation(char):
                tokens += [current, char]
                current = ""
            else:
                current += char
        tokens.append(current)
    return [token for token in tokens if token]


def word_pieces(word, vocabulary):
    if len(word) > LONGEST_WORD:
        return ["[UNK]"]
    pieces, start = [], 0
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = ("##" if start else "") + word[start:end]
            if piece in vocabulary:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces


def tokens_of(text, vocabulary):
    return [p for word in basic_tokens(text) for p in word_pieces(word, vocabulary)]


def encode(sentences, vocabulary, length):
    """int32 ids and mask, [sentences, length]; a longer sentence is cut."""
    ids = np.full((len(sentences), length), vocabulary["[PAD]"], np.int32)
    mask = np.zeros((len(sentences), length), np.int32)
    for row, sentence in enumerate(sentences):
        pieces = tokens_of(sentence, vocabulary)[: length - 2]
        line = [vocabulary[p] for p in ["[CLS]", *pieces, "[SEP]"]]
        ids[row, : len(line)] = line
        mask[row, : len(line)] = 1
    return ids, mask


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("vocabulary", metavar="VOCAB.txt")
    parser.add_argument("sentences", nargs="?", default=os.path.join(HERE, "sentences.txt"))
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--output-dir", default=HERE)
    parser.add_argument("--show", action="store_true", help="print the tokens of each sentence")
    options = parser.parse_args()
    if options.length < 2:
        parser.error("length must be at least 2")
    # The id of a token is its line, so no line may be dropped: split at \n only.
    with open(options.vocabulary, encoding="utf-8") as file:
        tokens = file.read().removesuffix("\n").split("\n")
    vocabulary = {token: index for index, token in enumerate(tokens)}
    sentences = [line for line in read_lines(options.sentences) if line.strip()]
    if options.show:
        for sentence in sentences:
            print(" ".join(tokens_of(sentence, vocabulary)))
    ids, mask = encode(sentences, vocabulary, options.length)
    np.save(os.path.join(options.output_dir, "input_ids.npy"), ids)
    np.save(os.path.join(options.output_dir, "attention_mask.npy"), mask)
    return 0


if __name__ == "__main__":
    sys.exit(main())
