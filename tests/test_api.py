"""pvc from Python, on a real repository."""

import subprocess
import sys
from pathlib import Path

import pytest

import pvc
from cli.conftest import Clone
from pvc.errors import RefusedError, UsageError


@pytest.fixture
def repository(tmp_path: Path) -> pvc.Repository:
    clone = Clone(tmp_path / "ada")
    subprocess.run(["git", "init", "-q", "-b", "main", str(clone.path)], check=True)
    clone.write(
        "agent/pvc.toml", 'format = 1\nname = "agent"\nform = "plain"\nbindings = ["cwd"]\n'
    )
    clone.write("agent/a.md", "Work in {cwd}.\n")
    clone.commit()
    clone.pvc("supersede", "agent", "-m", "First")
    return pvc.open(clone.path)


def test_a_pin_in_one_call_gives_the_rendered_bytes(repository: pvc.Repository) -> None:
    pinned = repository.pin("agent", "s", {"cwd": "/srv"})
    assert pinned.prompt == repository.render("agent", {"cwd": "/srv"}).data == b"Work in /srv.\n"
    assert (pinned.status, pinned.version) == ("pinned", "agent@1")
    assert repository.pin("agent", "s", {"cwd": "/srv"}).receipt == pinned.receipt


def test_the_public_names_are_what_completion_offers() -> None:
    assert set(pvc.__all__) < set(dir(pvc))
    assert all(hasattr(pvc, name) for name in dir(pvc))


def test_a_pin_spans_a_session(repository: pvc.Repository) -> None:
    with repository.pin("agent", "s", {"cwd": "/srv"}) as pinned:
        assert pinned.prompt == b"Work in /srv.\n"
    resumed = repository.pin("agent", "s", options=pvc.PinOptions(resume=True))
    assert resumed.prompt == pinned.prompt


def test_other_values_are_refused(repository: pvc.Repository) -> None:
    repository.pin("agent", "s", {"cwd": "/srv"})
    with pytest.raises(RefusedError, match="other bytes"):
        repository.pin("agent", "s", {"cwd": "/opt"})
    with pytest.raises(UsageError):
        repository.pin("agent", "t", {"cwd": 3})


def test_importing_pvc_imports_nothing_else() -> None:
    program = "import sys, pvc; print([m for m in sys.modules if m.startswith(('pvc.', 'click'))])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
    with pytest.raises(AttributeError, match="no attribute"):
        _ = pvc.nothing


def test_tools_from_python_are_the_tools_of_the_command(repository: pvc.Repository) -> None:
    tools = [{"name": "b", "input_schema": {"minimum": 2.5, "é": 1e300, "n": [1, None, True]}}]
    options = pvc.PinOptions(tools=tools, provider="openai.chat", model="m")
    repository.pin("agent", "s", {"cwd": "/srv"}, options)
    body = repository.emit("agent", {"cwd": "/srv"}, options)
    assert body["tools"][0]["function"]["parameters"] == tools[0]["input_schema"]
    assert body["messages"] == [{"role": "system", "content": "Work in /srv.\n"}]
    assert body["model"] == "m"


@pytest.mark.parametrize("value", [float("nan"), {"a"}, b"x"])
def test_what_has_no_json_is_refused(repository: pvc.Repository, value: object) -> None:
    with pytest.raises(UsageError, match="tools: no JSON"):
        repository.pin("agent", "s", {"cwd": "x"}, pvc.PinOptions(tools=[value]))
    with pytest.raises(UsageError, match="environment: no JSON"):
        repository.render("agent", {"cwd": value})
