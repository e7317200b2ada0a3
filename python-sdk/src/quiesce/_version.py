"""Owns the version of this package, the one that `pyproject.toml` names too."""

__version__ = "0.1.0"
