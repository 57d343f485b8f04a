"""The workflow of `docs/ci`: its shell steps, run as they stand in a clone of a real remote."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from attack.tamper import TREE, World, copy_world, ledger_replayed, make_world, segment_dropped

if TYPE_CHECKING:
    from cli.conftest import Clone, Done

WORKFLOW = Path(__file__).parents[2] / "docs/ci/pvc.yml"
INSTALL = "Install pvc"


@dataclass(frozen=True)
class Runner:
    """A machine that has cloned a pull request."""

    clone: Clone
    base: str
    summary: Path

    def steps(self) -> dict[str, Done]:
        """Run each shell step, as a forge does, and give what each left."""
        job: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text())["jobs"]["prompts"]
        variables = {"BASE": self.base, "GITHUB_STEP_SUMMARY": str(self.summary)}
        assert set(job["env"]) == {"BASE"}
        shells = [step for step in job["steps"] if "run" in step and step["name"] != INSTALL]
        path = f"{self.clone.path.parent / 'bin'}:{self.clone.environment['PATH']}"
        return {
            step["name"]: self.clone.run(
                ["bash", "-e", "-o", "pipefail", "-c", step["run"]], PATH=path, **variables
            )
            for step in shells
        }


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def world(template: World, tmp_path: Path) -> World:
    return copy_world(template, tmp_path / "world")


def request(world: World, text: str | None) -> Runner:
    """Make a pull request that changes the prompt, and the machine that looks at it."""
    ada = world.ada
    base = ada.git("rev-parse", "main")
    ada.git("checkout", "-q", "-b", "request")
    if text is None:
        ada.git("rm", "-rq", "agent")
    else:
        ada.write("agent/1.md", text)
    ada.commit("Try another")
    ada.git("push", "-q", "origin", "request")
    program = world.path / "bin/pvc"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pvc "$@"\n')
    program.chmod(0o755)
    clone = world.carol()
    clone.git("checkout", "-q", "request")
    return Runner(clone, base, world.path / "summary.md")


def failed(steps: dict[str, Done]) -> list[str]:
    return [name.split()[0] for name, done in steps.items() if done.code != 0]


def test_an_honest_request_passes_and_its_impact_is_summed_up(world: World) -> None:
    runner = request(world, "You mend small boats in {cwd}.\n")
    steps = runner.steps()
    assert failed(steps) == [], [done.err for done in steps.values()]
    assert "Nothing is wrong." in steps["Verify versions, channels and pins"].text
    summary = runner.summary.read_text()
    assert "agent" in summary
    assert "|" in summary
    assert runner.clone.git("rev-parse", TREE) == world.hub.git("rev-parse", TREE)


def test_a_volatile_line_is_shown_beside_the_line(world: World) -> None:
    steps = request(world, "It is 2026-11-29T10:00:00Z. You mend boats in {cwd}.\n").steps()
    assert failed(steps) == ["Check"]
    assert "::error file=agent/1.md,line=1" in steps["Check what the request adds"].text


def test_a_request_that_takes_a_tree_out_passes(world: World) -> None:
    steps = request(world, None).steps()
    assert failed(steps) == [], [done.err for done in steps.values()]


@pytest.mark.parametrize("attack", [segment_dropped, ledger_replayed])
def test_a_tampered_hub_fails_the_request(world: World, attack: Any) -> None:
    attack(world)
    assert failed(request(world, "You mend small boats in {cwd}.\n").steps()) == ["Verify"]
