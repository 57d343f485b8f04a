"""Who may import whom (STYLE §3): one table, held against every import in the source.

A row says what the modules of a layer may import when they are loaded, what only within functions,
where it costs nothing until it is needed, and what only for type checkers. Pure layers may use the
standard library, except for what touches the world.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

import pvc.errors

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(pvc.errors.__file__).parent

IMPURE = frozenset(
    """asyncio concurrent ctypes datetime fcntl getpass glob importlib io locale logging mmap
    multiprocessing os pathlib platform random secrets select shutil signal socket sqlite3 stat
    subprocess tempfile threading time urllib uuid zoneinfo""".split()  # noqa: SIM905 - a table
)
PURE = frozenset(sys.stdlib_module_names) - IMPURE
ANY = frozenset(sys.stdlib_module_names)
LAUNCH = frozenset(("os", "sys", "gc", "time", "zlib", "fcntl", "mmap", "errno", "blake3"))


@dataclass(frozen=True)
class Layer:
    """What a layer may import, by the beginnings of module names."""

    ours: tuple[str, ...]
    others: frozenset[str]
    ours_late: tuple[str, ...] = ()
    others_late: frozenset[str] = frozenset()
    ours_types: tuple[str, ...] = ()


LAYERS = {
    "errors": Layer((), frozenset()),
    "model": Layer(("model", "errors"), PURE, others_late=frozenset(("blake3",))),
    "core": Layer(
        ("core", "model", "errors"),
        PURE | {"datetime"},  # its arithmetic; that nobody asks it for now is a test below
        others_late=frozenset(("rapidfuzz", "blake3", "_json")),
    ),
    # Both read their own data out of the wheel, which `importlib.resources` does.
    "dialects": Layer(
        ("dialects", "model", "errors"), PURE | {"importlib"}, others_late=frozenset(("yaml",))
    ),
    "providers": Layer(("providers", "core", "model", "errors"), PURE | {"importlib"}),
    "packs": Layer(("model", "errors"), PURE | {"importlib"}),
    # The launch path: nothing that costs a start more than it must.
    "launch": Layer(
        (
            "launch", "errors", "model.bounds", "model.names", "model.times", "core.program",
            "core.json_text", "core.stream", "core.guidance", "core.graphemes", "core.entries",
            "core.owners", "core.secret_signs",
        ),
        LAUNCH,
        ours_late=("ops", "store.open", "store.index"),
        others_late=frozenset(("difflib", "mmap", "fcntl", "select")),
        ours_types=("model",),
    ),
    # `codec` reads what `launch` writes, `history` gives what `core.blame` walks.
    "store": Layer(
        ("store", "launch", "model", "errors", "core.blame", "core.moves", "core.owners"),
        ANY | {"pygit2", "blake3"},
    ),
    "files": Layer(("store", "model", "errors"), ANY),
    "ops": Layer(
        ("ops", "core", "model", "errors", "dialects", "providers", "packs", "store", "files",
         "launch"),
        ANY,
        others_late=frozenset(("tomli_w", "blake3")),
    ),
    "report": Layer(("report", "ops", "core", "launch.words", "model", "errors"), ANY),
    "api": Layer(("ops", "launch", "store", "files", "model", "errors"), ANY),
    "cli": Layer(
        ("cli", "ops", "report", "launch", "store", "files", "model", "errors", "api"),
        ANY | {"click"},
    ),
    "main": Layer(
        ("errors",),
        frozenset(("gc", "os", "sys")),
        ours_late=("launch", "cli"),
        others_late=frozenset(("traceback",)),
    ),
    "testing": Layer(
        ("api", "ops", "store", "model", "errors"), ANY, others_late=frozenset(("pytest",))
    ),
    "__main__": Layer(("main",), frozenset()),
    "__init__": Layer(("api", "core", "model", "errors"), ANY),
}  # fmt: skip

# The two that may use what their layer may not.
ONLY_IN = {"pygit2": "store.pygit", "subprocess": "store.child"}


class Import(NamedTuple):
    """One imported name and where it stands."""

    name: str
    line: int
    is_late: bool
    for_types: bool


def imports(tree: ast.AST, module: str) -> Iterator[Import]:
    """Give every import of a module, those within functions too."""

    def visit(node: ast.AST, *, late: bool, types: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            is_types = types or (
                isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING")
            )
            is_late = late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            match child:
                case ast.Import(names=names):
                    yield from (Import(n.name, child.lineno, is_late, is_types) for n in names)
                case ast.ImportFrom(module=base, names=names, level=level):
                    assert level == 0, f"{module}:{child.lineno}: imports are written in full"
                    for name in names:
                        full = f"{base}.{name.name}" if base and base.startswith("pvc") else base
                        yield Import(str(full), child.lineno, is_late, is_types)
            yield from visit(child, late=is_late, types=is_types)

    return visit(tree, late=False, types=False)


def allowed(found: Import, layer: Layer, module: str) -> bool:
    """Whether a layer may import this, here."""
    top, _, rest = found.name.partition(".")
    if top == "pvc":
        ours = layer.ours + (layer.ours_late if found.is_late else ())
        ours += layer.ours_types if found.for_types else ()
        return any(rest == name or rest.startswith(f"{name}.") for name in ours)
    if found.for_types or top == "__future__":
        return True
    if ONLY_IN.get(top, module) != module and module.startswith("store"):
        return False
    return top in (layer.others | layer.others_late if found.is_late else layer.others)


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_what_its_layer_may(path: Path) -> None:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    module = ".".join(parts)
    tree = ast.parse(path.read_bytes())
    wrong = [
        f"{path.name}:{found.line}: {found.name}"
        for found in imports(tree, module)
        if not allowed(found, LAYERS[parts[0]], module)
    ]
    assert not wrong


def test_every_layer_is_in_the_table() -> None:
    there = {path.relative_to(SOURCE).with_suffix("").parts[0] for path in modules()}
    assert there <= set(LAYERS)


@pytest.mark.parametrize(
    ("layer", "text", "verdict"),
    [
        ("core", "import os", False),
        ("core", "import re", True),
        ("core", "from pvc.store import repo", False),
        ("core", "def f():\n    import subprocess", False),
        ("core", "if TYPE_CHECKING:\n    from pvc.store.repo import Entry", False),
        ("launch", "import json", False),
        ("launch", "def f():\n    from pvc.ops.fold import run", True),
        ("launch", "from pvc.ops.fold import run", False),
        ("launch", "if TYPE_CHECKING:\n    from typing import Any", True),
        ("store", "import pygit2", False),
        ("store", "import click", False),
        ("model", "from pvc.model import names", True),
    ],
)
def test_the_table_tells_right_from_wrong(layer: str, text: str, *, verdict: bool) -> None:
    found = next(imports(ast.parse(text), "example"))
    assert allowed(found, LAYERS[layer], f"{layer}.example") == verdict


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import pvc", ("pygit2", "click", "dataclasses", "re", "json", "typing")),
        (
            "import pvc.launch.main, pvc.launch.pin",
            ("pygit2", "click", "dataclasses", "re", "json", "typing", "pathlib", "tomllib",
             "subprocess", "datetime", "enum"),
        ),
        ("import pvc.cli.main", ("pygit2", "pvc.dialects", "pvc.store.pygit")),
        ("import pvc.store.open", ("pygit2",)),
    ],
)  # fmt: skip
def test_what_a_start_does_not_load(statement: str, absent: tuple[str, ...]) -> None:
    """Compared with a bare interpreter, whose site may load modules of its own."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*set(sys.modules) - before)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        env={"PYTHONPATH": str(SOURCE.parent)},
    )
    assert not set(done.stdout.decode().split()) & set(absent)


@pytest.mark.parametrize("layer", ["model", "core", "dialects", "providers"])
def test_no_pure_layer_asks_for_the_time(layer: str) -> None:
    for path in (SOURCE / layer).rglob("*.py"):
        calls = {
            node.func.attr
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        }
        assert not calls & {"now", "today", "utcnow", "fromtimestamp", "localtime"}, path
