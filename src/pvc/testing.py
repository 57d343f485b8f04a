"""For tests of those who build prompts: the head of a request must not change by itself.

    from pvc.testing import assert_same_head

    def test_the_head_is_stable():
        assert_same_head(build_request(), build_request())

With `-p pvc.testing`, or `pytest_plugins = ["pvc.testing"]` in a conftest, there is a fixture:

    def test_the_head_is_stable_from_process_to_process(assert_same_head_apart):
        assert_same_head_apart("my_agent.requests:build_request")

Rule 1: the head is what a cache compares before the conversation: tools, output format and system
text, and the settings that are part of its key.
Rule 2: a failure shows the place: pointer, byte, what stands around it on both sides, of what kind
the change is, and who owns the byte where a tree of the repository at hand has the text.
Rule 3: what differs between two runs of one process is not all. `rendered_apart` calls a function
in processes of their own, each with another hash seed, time zone, locale and home.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pvc.ops.head import head_difference

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pvc.store.repo import Repository

    Body = bytes | str | Mapping[str, Any]

__all__ = ["assert_same_head", "rendered_apart"]

SETTINGS = (
    {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"},
    {"PYTHONHASHSEED": "2", "TZ": "Pacific/Kiritimati", "LC_ALL": "C"},
)
_CALL = """
import importlib, json, os, sys
module, _, name = sys.argv[1].partition(":")
sys.path[:0] = json.loads(sys.argv[2])
out = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
made = getattr(importlib.import_module(module), name)()
if not isinstance(made, (bytes, str)):
    made = json.dumps(made)
out.write(made if isinstance(made, bytes) else made.encode("utf-8", "surrogatepass"))
out.close()
"""


class _Here:
    """The current folder, and its repository where there is one."""

    directory = "."

    @cached_property
    def repo(self) -> Repository:
        from pvc.store.open import open_repository

        return open_repository(self.directory)


def assert_same_head(a: Body, b: Body) -> None:
    """Raise `AssertionError`, with the place and its owner, unless two bodies share their head.

    A body is JSON as bytes or text, or what becomes JSON.
    """
    found = head_difference(_Here(), _json(a), _json(b))
    if found is not None:
        raise AssertionError("\n".join(found.lines()))


def rendered_apart(target: str, *, timeout: float = 60) -> list[bytes]:
    """Call `module:function` in two processes; gives the bodies that it returned.

    The function takes nothing and returns a body. Raises `RuntimeError` with what the process said
    when it fails.
    """
    made: list[bytes] = []
    for settings in SETTINGS:
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(  # the caller's own function, in this interpreter
                [sys.executable, "-c", _CALL, target, json.dumps(sys.path)],
                env={**os.environ, **settings, "HOME": home},
                capture_output=True,
                check=False,
                timeout=timeout,
            )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace")
            raise RuntimeError(f"`{target}` failed in a process of its own\n{said}")
        made.append(done.stdout)
    return made


def _json(body: Body) -> bytes:
    if isinstance(body, bytes):
        return body
    text = body if isinstance(body, str) else json.dumps(body)
    return text.encode()


def _assert_same_head_apart(target: str) -> None:
    first, second = rendered_apart(target)
    assert_same_head(first, second)


def pytest_configure(config: Any) -> None:
    """Register the fixture; called by pytest when this module is a plugin."""
    import pytest

    class Fixtures:
        """What tests may ask for."""

        @pytest.fixture
        def assert_same_head_apart(self) -> Callable[[str], None]:
            """Call `module:function` in two processes and compare the heads."""
            return _assert_same_head_apart

    config.pluginmanager.register(Fixtures(), "pvc-fixtures")
