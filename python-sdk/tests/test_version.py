"""The package says the version it was installed as."""

from importlib.metadata import version

import quiesce


def test_version_matches_the_distribution() -> None:
    assert quiesce.__version__ == version("quiesce")
