"""Equal version, values and tools give equal bytes, wherever and however they are rendered."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pvc
from cli.conftest import LOOM_ENVIRONMENT, Clone
from dialects.clio_trees import BODIES, fragment

if TYPE_CHECKING:
    from collections.abc import Iterator

CHILD = Path(__file__).parents[1] / "render_child.py"
# What locales, editors and readers turn into something else: dotted I, CRLF, marks that compose,
# line separators, a byte order mark, names that sort by locale.
TEXT = "\ufeffIi İı ILIK\r\n\r\nz\u0301 é e\u0301\u2028x\x85\u00a0 \tend\r\n"
TOOLS = ["write", "Read", "ı", "I", "édit", "_x", "Z", "a"]
VALUES: dict[str, dict[str, Any]] = {
    "loom": LOOM_ENVIRONMENT | {"tools": TOOLS, "workspace": TEXT, "available_tools": TOOLS},
    "plain": {"cwd": TEXT},
    "harness": {
        "sections": [
            {"id": name, "order": order, "text": f"{name}: {TEXT}"}
            for name, order in (("z", 30), ("I", 30), ("ı", 30), ("é", 30), ("_", 7))
        ]
    },
    "clio": {"session": {"toolNames": TOOLS, "providerSupportsTools": True, "contextFiles": TEXT}},
    "panto": {"wire": "string"},
    "raku": {"platform": "ı", "os": TEXT, "extra": {name: name for name in TOOLS}},
}
VARIATIONS = {
    "locale": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONUTF8": "0"},
    "no locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "time zone": {"TZ": "Pacific/Kiritimati"},
    **{f"hash seed {seed}": {"PYTHONHASHSEED": str(seed)} for seed in range(10)},
}


def write_trees(ada: Clone) -> None:
    texts = {"I.md": TEXT, "ı.md": f"ı{TEXT}", "a-b.md": "{cwd}", "a/b.md": "deep\r\n", "B.md": "B"}
    for path, text in texts.items():
        ada.write(f"plain/{path}", text)
    for tree, more in (
        ("plain", 'bindings = ["cwd"]'),
        ("loom", "packs = {builtin-loom = 1}"),
        ("harness", "packs = {builtin-harness = 1}"),
        ("clio", "packs = {builtin-clio = 1}"),
        ("panto", "packs = {builtin-panto = 1}"),
        ("raku", ""),
    ):
        manifest = f'format = 1\nname = "{tree}"\nform = "{tree}"\n{more}\n'
        ada.write(f"{tree}/pvc.toml", manifest)
    for path in ("systemprompt.md", "memory.md", "skills/I/SKILL.md"):
        ada.write(f"harness/{path}", TEXT)
    for path in ("layers/user/APPEND_SYSTEM.md", "layers/project/APPEND_SYSTEM.md"):
        ada.write(f"panto/{path}", f"{path}{TEXT}")
    for path in ("identity.md", "AGENTS.md", "ı.md"):
        ada.write(f"raku/{path}", f"{path}{TEXT}")
    ada.write("loom/house_rules.md", f"{TEXT}{{tools}}\n{{workspace}}\n")
    for name, body in BODIES.items():
        text = "Skills.\n" if name == "operating.skills" else f"{body}{TEXT}"
        text = text.replace("again {CLIO_DOCS_PATH}", "again")
        ada.write(f"clio/{name.replace('.', '/')}.md", fragment(name, text))
    for tree, values in VALUES.items():
        ada.write(f"{tree}.json", json.dumps(values, indent=1) + "\n")


@pytest.fixture
def trees(ada: Clone) -> Clone:
    """Ada's repository with one adopted tree of each form, and their values beside them."""
    write_trees(ada)
    for tree in VALUES:
        ada.pvc("init", tree)
    ada.commit("One of each")
    for tree in VALUES:
        ada.pvc("supersede", tree, "-m", "First")
    return ada


def digests(
    clone: Clone,
    *words: str,
    values: Path | None = None,
    variables: dict[str, str] | None = None,
) -> list[str]:
    """Render each tree with the command, and digest what it printed; `values` is their folder."""
    found = []
    for tree in VALUES:
        env = str((values or clone.path) / f"{tree}.json")
        done = clone.pvc("render", tree, "--env", env, *words, code=0, **(variables or {}))
        found.append(sha256(done.out).hexdigest())
    return found


def pythons() -> Iterator[str]:
    """Give every Python from 3.11 that is at hand: on the PATH, and installed beside this one."""
    names = [f"python3.{minor}" for minor in range(11, 20)]
    there = [shutil.which(name) for name in names]
    beside = Path(sys.base_prefix).parent.glob("*/bin/python3")
    seen = set()
    for python in [sys.executable, *filter(None, there), *map(str, sorted(beside))]:
        asked = [python, "-c", "import sys; print(sys.version_info[:3] >= (3, 11), sys.version)"]
        done = subprocess.run(asked, capture_output=True, check=False, cwd="/")
        if done.returncode == 0 and done.stdout.startswith(b"True") and done.stdout not in seen:
            seen.add(done.stdout)
            yield python


def child(python: str, root: Path, **variables: str) -> str:
    """Render the trees below `root` in a process that sees the pure layers and PyYAML."""
    import yaml

    paths = [Path(pvc.__file__).parents[1], Path(yaml.__file__).parents[1]]
    done = subprocess.run(
        [python, "-B", str(CHILD), str(root)],
        cwd=root,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, paths))}
        | variables,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def unpack(clone: Clone, root: Path) -> None:
    """Put each version's files into a folder, packs and all, as git stores them."""
    for tree, values in VALUES.items():
        done = clone.run(["git", "archive", f"refs/pvc/trees/{tree}"])
        with tarfile.open(fileobj=BytesIO(done.out)) as archive:
            archive.extractall(root / tree, filter="data")
        (root / f"{tree}.json").write_text(json.dumps(values), encoding="utf-8")


def test_the_same_bytes_in_every_process(trees: Clone, tmp_path: Path) -> None:
    root = tmp_path / "unpacked"
    root.mkdir()
    unpack(trees, root)
    first = child(sys.executable, root)
    assert [line.split(" ")[0] for line in first.splitlines()] == sorted(VALUES)
    for name, variables in VARIATIONS.items():
        assert child(sys.executable, root, **variables) == first, name
    for python in pythons():
        assert child(python, root, PYTHONHASHSEED="7", TZ="Pacific/Kiritimati") == first, python
    prompts = {line.split(" ")[0]: line.split(" ")[1] for line in first.splitlines()}
    assert digests(trees) == [prompts[tree] for tree in VALUES]


def test_the_same_bytes_from_the_command_wherever_it_runs(trees: Clone, tmp_path: Path) -> None:
    elsewhere = Clone(tmp_path)
    variables = VARIATIONS["locale"] | VARIATIONS["time zone"] | VARIATIONS["hash seed 3"]
    variables |= {"GIT_DIR": str(trees.path / ".git")}
    assert digests(elsewhere, values=trees.path, variables=variables) == digests(trees)


def test_the_same_bytes_from_a_checkout_that_converts_line_ends(
    trees: Clone, tmp_path: Path
) -> None:
    other = Clone(tmp_path / "other")
    convert = ["-c", "core.autocrlf=true", "-c", "core.eol=crlf"]
    trees.run(["git", *convert, "clone", "-q", str(trees.path), str(other.path)])
    other.git("config", "core.autocrlf", "true")
    other.pvc("sync", "origin")
    assert b"\r\n" in (other.path / "plain.json").read_bytes()  # where pvc has no say, it converts
    assert digests(other, "--worktree") == digests(trees)
    again = ("supersede", "plain", "-m", "Again", "--worktree", "--json")
    assert other.pvc(*again).json["status"] == "identical"
