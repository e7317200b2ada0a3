"""Drive a coding agent from Python, over the Quiesce runtime."""

__version__ = "0.1.0"
