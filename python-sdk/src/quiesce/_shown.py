"""Owns how a value that came over the wire is told in an error, in few words, whatever it is."""

from __future__ import annotations


def shown(value: object, most: int) -> str:
    """Its repr in ASCII, cut short after `most` characters; its kind, where it nests too deeply for that."""
    try:
        text = ascii(value)
    except RecursionError:
        return f"a {type(value).__name__} that nests too deeply"
    return text if len(text) <= most else f"{text[: most - 3]}..."
