"""The options of `pvc blame` as a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pvc.cli.options import parse_byte_range
from pvc.errors import UsageError
from pvc.ops.asked import Asked, options_of
from pvc.ops.file_blame import ignored_of
from pvc.ops.subject import Question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pvc.cli.app import App


def question(
    app: App,
    environment: Mapping[str, object],
    given: Mapping[str, Any],
    watch: Callable[[int, int], None] | None,
) -> Question:
    """Read the options; raises `UsageError` where two of them contradict each other."""
    parts = [name for name in ("byte_range", "lines", "section") if given[name]]
    if len(parts) > 1:
        raise UsageError("one of `--byte`, `-L` and `--section` at a time")
    asked = Asked(
        parse_byte_range(given["byte_range"]) if given["byte_range"] else None,
        given["lines"],
        given["section"],
        given["since"],
        given["first"],
    )
    ignored = ignored_of(app.repo, given["ignore_rev"], given["ignore_revs_file"], app.directory)
    options = options_of(
        moves=not given["no_moves"],
        granularity=given["granularity"],
        ignore_space=given["ignore_space"],
        ignored=ignored,
    )
    return Question(
        environment, asked, options, over_head=given["over_head"], at=given["at"], watch=watch
    )
