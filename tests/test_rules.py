"""Every rule has a page, and the examples of each page are what `pvc check` finds, and does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from pvc.core.check import OWN_CODES, RULES
from pvc.model.finding import Severity
from pvc.ops.check import CheckOptions, run

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).parent.parent / "docs/rules"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.stem != "README")
_BLOCK = re.compile(
    r"^```(?P<path>\S+)(?P<escaped> escaped)?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Example(NamedTuple):
    """One example of a page, written out below a folder."""

    folder: Path
    tools: str | None

    def codes(self) -> set[str]:
        result = run(str(self.folder), CheckOptions(paths=(".",), tools=self.tools))
        return {one.finding.code for one in result.found}

    def grave(self) -> bool:
        return run(str(self.folder), CheckOptions(paths=(".",), tools=self.tools)).failed


def example(page: Path, heading: str, folder: Path) -> Example:
    text = page.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    files = {match["path"]: match for match in _BLOCK.finditer(text)}
    assert files, f"no example below `{heading}` in {page.name}"
    for path, match in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_unescaped(match["text"]) if match["escaped"] else match["text"].encode())
    return Example(folder, str(folder / "tools.json") if "tools.json" in files else None)


def _unescaped(text: str) -> bytes:
    r"""Read `\r`, `\xNN` (a byte), `\uNNNN` (a character); `\` at a line's end takes it away."""
    parts = re.split(r"(\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\r|\\\n)", text)
    return b"".join(_SPELLED.get(part[:2], str.encode)(part) for part in parts)


_SPELLED: dict[str, Callable[[str], bytes]] = {
    "\\x": lambda part: bytes.fromhex(part[2:]),
    "\\u": lambda part: part.encode("ascii").decode("unicode_escape").encode(),
    "\\r": lambda _: b"\r",
    "\\\n": lambda _: b"",
}


def test_every_code_has_a_page_and_stands_in_the_list() -> None:
    named = {path.stem for path in PAGES}
    assert set(OWN_CODES) <= named
    assert named == set(re.findall(r"\]\(([a-z-]+)\.md\)", (FOLDER / "README.md").read_text()))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.code))
def test_a_page_gives_the_severity_of_its_rule(rule: object) -> None:
    code, severity = getattr(rule, "code", ""), getattr(rule, "severity", "")
    assert f"Severity: {severity}." in (FOLDER / f"{code}.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_bad_example_is_found_and_the_good_one_is_not(page: Path, tmp_path: Path) -> None:
    assert page.stem in example(page, "Bad", tmp_path / "bad").codes()
    good = example(page, "Good", tmp_path / "good")
    assert page.stem not in good.codes()
    assert not good.grave()


def test_pages_speak_of_known_severities_only() -> None:
    for page in PAGES:
        found = re.search(r"^Severity: ([a-z]+)\.$", page.read_text(), re.MULTILINE)
        assert found
        assert found[1] in list(Severity), page.name
