"""Observed text laid against the versions of real trees: which version, which commit, or none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pvc.errors import NotFoundError
from pvc.model.span import FromBinding, FromSource
from pvc.ops import supersede
from pvc.ops.attribute import attribute, blame_attributed
from pvc.ops.owner import describe
from pvc.ops.render import render_version
from pvc.store.versions import find

if TYPE_CHECKING:
    from pvc.store.repo import Repository
    from workspace import Workspace

MANIFEST = 'format = 1\nname = "{name}"\nform = "plain"\nbindings = ["cwd"]\n'
ROLE = "# Role\n\nYou mend the software of a harbour office.\nYou never guess at a tide.\n"
RULES = "# Rules\n\nWork in {cwd}.\nNever force a push to the shared branch.\n"
BOATS = "# Boats\n\nPaint every boat green before the summer begins.\n"


def adopt(workspace: Workspace, files: dict[str, str], name: str = "agent") -> None:
    """Commit files of a tree and adopt them."""
    held = {f"{name}/{path}": text for path, text in files.items()}
    workspace.commit({f"{name}/pvc.toml": MANIFEST.format(name=name), **held}, message="Edit")
    supersede.run(workspace.open(), name, f"Adopt {workspace.commits}")


@pytest.fixture
def repo(workspace: Workspace) -> Repository:
    """Three versions: a role is edited, then a rule."""
    adopt(workspace, {"10.md": ROLE, "20.md": RULES})
    adopt(workspace, {"10.md": ROLE.replace("software", "ships")})
    adopt(workspace, {"20.md": RULES.replace("Never force", "Never, ever force")})
    return workspace.open()


def prompt(repo: Repository, number: int, name: str = "agent") -> bytes:
    version = find(repo, "trees", name, number)
    return render_version(repo, version, {"cwd": "/srv/x"}).rendered.data


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_text_is_found_in_the_version_that_it_is_of(repo: Repository, number: int) -> None:
    text = prompt(repo, number)
    found = attribute(repo, text)
    assert found.layers[0].version.number == number
    kinds = {type(span.origin) for span in found.layers[0].rendered.spans}
    assert {FromSource, FromBinding} < kinds
    assert describe(found) == f"100% of its {len(text)} bytes are agent@{number}"


def test_blame_of_an_observed_text_names_the_commits(repo: Repository) -> None:
    text = prompt(repo, 3)
    runs = blame_attributed(repo, attribute(repo, text))
    assert [0, *(run.end for run in runs)] == [*(run.start for run in runs), len(text)]
    adopted = {text[r.start : r.end]: r.version.number for r in runs if r.version}
    assert adopted[b"ships"] == 2
    assert next(number for data, number in adopted.items() if b", ever" in data) == 3
    assert all(run.source for run in runs if isinstance(run.origin, FromSource))


def test_a_prompt_inside_a_longer_text_is_found(repo: Repository) -> None:
    text = b"You are somebody's agent.\n\n" + prompt(repo, 2) + b"\n\nToday is Monday.\n"
    runs = blame_attributed(repo, attribute(repo, text))
    loose = b"".join(text[r.start : r.end] for r in runs if r.version is None and r.region)
    assert b"somebody's agent" in loose
    assert b"Today is Monday" in loose
    assert b"harbour" not in loose


def test_text_of_two_versions_is_found_in_both(repo: Repository) -> None:
    mixed = RULES.replace("Never force a push", "Never push alone") + BOATS
    text = prompt(repo, 3) + b"\nNever force a push to the shared branch.\n" + mixed.encode()
    found = attribute(repo, text)
    numbers = {layer.version.number for layer in found.layers}
    assert {1, 3} <= numbers
    at = text.index(b"Never force a push to")
    held = found.layer_at(at)
    assert held is not None
    assert held.version.number == 1


def test_text_of_no_tree_gets_the_nearest_names(repo: Repository) -> None:
    found = attribute(repo, b"Never guess at anything, and mend what you break in the harbour.")
    assert found.layers == ()
    assert found.nearest[0][0] == "agent"
    assert "no tree here has this text; the nearest: agent (" in describe(found)


def test_of_several_trees_the_one_with_most_of_the_text_counts(
    repo: Repository, workspace: Workspace
) -> None:
    adopt(workspace, {"10.md": ROLE, "20.md": BOATS}, "painter")
    found = attribute(repo, prompt(workspace.open(), 1, "painter"))
    assert found.layers[0].version.label == "painter@1"
    asked = attribute(repo, prompt(repo, 1), "painter")
    assert asked.layers[0].version.label == "painter@1"


def test_a_tree_that_is_not_here_is_said(repo: Repository) -> None:
    with pytest.raises(NotFoundError) as caught:
        attribute(repo, b"text", "agnet")
    assert "agent" in str(caught.value.hint)


def test_without_trees_nothing_is_claimed(workspace: Workspace) -> None:
    workspace.commit({"a": "b"})
    assert attribute(workspace.open(), os.urandom(40)).layers == ()
