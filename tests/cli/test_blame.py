"""`pvc blame` of prompts and files with the real command; `git blame` is the oracle."""

from __future__ import annotations

import json
import os
import pty
import re
import sys
from pathlib import Path

import pytest

from cli.conftest import Clone

DOCS = Path(__file__).parents[2] / "docs"
RULES = "Ask before you push.\nBe brief.\n"


@pytest.fixture
def notes(ada: Clone) -> Clone:
    """A repository without any tree: three commits of one file."""
    ada.write("docs/AGENTS.md", RULES)
    ada.commit("Start")
    ada.write("docs/AGENTS.md", RULES.replace("brief", "kind and brief"))
    ada.commit("Kind")
    ada.write("docs/AGENTS.md", RULES.replace("brief", "kind and brief").replace("push", "merge"))
    ada.commit("Merge")
    return ada


def owners(clone: Clone, *words: str) -> list[tuple[str, str]]:
    """Text and subject of each run."""
    answer = clone.pvc("blame", *words, "--json").json
    path = answer["subject"]["path"]
    data = (clone.path / path).read_bytes()
    return [
        (data[r["start"] : r["end"]].decode(), (r["source"] or {"subject": ""})["subject"])
        for r in answer["runs"]
    ]


# --- any text file ------------------------------------------------------------------------------


def test_a_file_of_any_repository_is_blamed_by_the_word(notes: Clone) -> None:
    assert owners(notes, "docs/AGENTS.md") == [
        ("Ask before you ", "Start"),
        ("merge", "Merge"),
        (".\nBe ", "Start"),
        ("kind and ", "Kind"),
        ("brief.\n", "Start"),
    ]


def test_what_is_not_committed_is_shown_as_such(notes: Clone) -> None:
    notes.write("docs/AGENTS.md", RULES.replace("brief", "kind and brief") + "Smile.\n")
    assert ("Smile.\n", "") in owners(notes, "docs/AGENTS.md")
    text = notes.pvc("blame", "docs/AGENTS.md").text
    assert "Not Committed Yet" in text
    porcelain = notes.pvc("blame", "docs/AGENTS.md", "--porcelain").text
    assert "author Not Committed Yet\nauthor-mail <not.committed.yet>\n" in porcelain


def test_line_ends_that_git_would_convert_are_no_change(notes: Clone) -> None:
    notes.git("config", "core.autocrlf", "true")
    text = (notes.path / "docs/AGENTS.md").read_bytes()
    notes.write("docs/AGENTS.md", text.replace(b"\n", b"\r\n"))
    answer = notes.pvc("blame", "docs/AGENTS.md", "--json").json
    assert all(run["source"] for run in answer["runs"])


def test_a_revision_and_a_path_from_a_subfolder(notes: Clone) -> None:
    inner = Clone(notes.path / "docs")
    there = inner.pvc("blame", "--json", "HEAD~1", "--", "AGENTS.md").json
    assert there["subject"]["path"] == "docs/AGENTS.md"
    assert {run["source"]["subject"] for run in there["runs"]} == {"Start", "Kind"}
    assert there["bytes"] == len(RULES) + len("kind and ")


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (("-L", "2"), ["Be ", "kind and ", "brief.\n"]),
        (("-L", "1,1"), ["Ask before you ", "merge", ".\n"]),
        (("-L", "2,+5"), ["Be ", "kind and ", "brief.\n"]),
        (("-L", ",1"), ["Ask before you ", "merge", ".\n"]),
        (("--byte", "15"), ["m"]),
        (("--byte", "13..17"), ["u ", "me"]),
    ],
)
def test_a_part_of_a_file(notes: Clone, words: tuple[str, ...], texts: list[str]) -> None:
    assert [text for text, _ in owners(notes, "docs/AGENTS.md", *words)] == texts


BAD = {
    "no such file": (("docs/NONE.md",), 4),
    "a line beyond the end": (("docs/AGENTS.md", "-L", "9"), 2),
    "no line number": (("docs/AGENTS.md", "-L", "x"), 2),
    "bytes beyond the end": (("docs/AGENTS.md", "--byte", "5..999"), 2),
    "an unknown revision": (("nothing", "--", "docs/AGENTS.md"), 4),
    "a file that the revision has not": (("HEAD", "--", "README"), 4),
    "a path outside": (("path:../x",), 2),
    "a section of a file": (("docs/AGENTS.md", "--section", "x"), 2),
    "two parts": (("docs/AGENTS.md", "-L", "1", "--byte", "1"), 2),
    "a list that is not there": (("docs/AGENTS.md", "--ignore-revs-file", "none"), 4),
}


@pytest.mark.parametrize(("words", "code"), BAD.values(), ids=BAD)
def test_what_cannot_be_answered_is_one_line(
    notes: Clone, words: tuple[str, ...], code: int
) -> None:
    notes.refused("blame", *words, code=code)


def test_a_commit_to_ignore_passes_its_words_on(notes: Clone) -> None:
    head = notes.git("rev-parse", "HEAD")
    named = owners(notes, "docs/AGENTS.md", "--ignore-rev", "HEAD")
    assert {subject for _, subject in named} == {"Start", "Kind"}
    notes.write(".git-blame-ignore-revs", f"# formatting\n{head}\n")
    assert owners(notes, "docs/AGENTS.md", "--ignore-revs-file", ".git-blame-ignore-revs") == named
    notes.git("config", "blame.ignoreRevsFile", ".git-blame-ignore-revs")
    assert owners(notes, "docs/AGENTS.md") == named
    notes.write(".git-blame-ignore-revs", "not an id\n")
    assert ".git-blame-ignore-revs:1" in notes.refused("blame", "docs/AGENTS.md", code=3)


def test_text_that_was_put_back_names_who_had_it_first(notes: Clone) -> None:
    notes.write("docs/AGENTS.md", RULES)
    notes.commit("Take it all back")
    answer = notes.pvc("blame", "docs/AGENTS.md", "--first", "--json").json
    back = [run for run in answer["runs"] if run["source"]["subject"] == "Take it all back"]
    assert back
    assert {first["source"]["subject"] for run in back for first in run["first"]} == {"Start"}


def test_what_is_older_than_a_date_is_marked(notes: Clone) -> None:
    answer = notes.pvc("blame", "docs/AGENTS.md", "--since", "2038-01-01", "--json").json
    assert all(run["old"] for run in answer["runs"])
    answer = notes.pvc("blame", "docs/AGENTS.md", "--since", "2001-01-01", "--json").json
    assert not any("old" in run for run in answer["runs"])


def test_granularity_blanks_and_moves_can_be_chosen(notes: Clone) -> None:
    text = (notes.path / "docs/AGENTS.md").read_text()
    notes.write("docs/AGENTS.md", text.replace("brief", "briefer").replace("you m", "you  m"))
    notes.commit("Briefer")
    letters = owners(notes, "docs/AGENTS.md", "--granularity", "byte")
    assert ("er", "Briefer") in letters
    blank = owners(notes, "docs/AGENTS.md", "-w")
    assert [text for text, subject in blank if subject == "Briefer"] == ["briefer"]
    notes.pvc("blame", "docs/AGENTS.md", "--no-moves")


def lines_of(text: str) -> list[str]:
    """The lines of a porcelain that git has too, without numbers and text."""
    kept = ("author", "committer", "summary", "filename")
    return [line for line in text.split("\n") if line.startswith(kept)]


def test_porcelain_has_gits_facts_in_gits_order(notes: Clone) -> None:
    """Where a commit wrote whole lines, an entry of ours says what git's says."""
    notes.write("docs/NEW.md", "Only one commit.\n")
    notes.commit("New")
    for style in ("--porcelain", "--line-porcelain", "--incremental"):
        ours = notes.pvc("blame", "docs/NEW.md", style).text
        theirs = notes.git("blame", style, "docs/NEW.md")
        assert lines_of(ours) == lines_of(theirs)
        assert ours.split(" ", 1)[0] == theirs.split(" ", 1)[0]
    assert notes.pvc("blame", "docs/NEW.md", "--porcelain").text.endswith(
        '\t"Only one commit.\\n"\n'
    )


def test_porcelain_tells_a_commit_once_and_line_porcelain_each_time(notes: Clone) -> None:
    once = notes.pvc("blame", "docs/AGENTS.md", "--porcelain").text
    each = notes.pvc("blame", "docs/AGENTS.md", "--line-porcelain").text
    assert (once.count("\nsummary "), each.count("\nsummary ")) == (3, 5)
    assert once.count("\nfilename docs/AGENTS.md") == 5


def test_a_page_is_whole_escaped_and_without_network(notes: Clone) -> None:
    notes.write("docs/AGENTS.md", "<script>alert(1)</script> & \x1b[31m\n")
    notes.commit("<img src=x onerror=alert(1)>")
    notes.pvc("blame", "docs/AGENTS.md", "--html", "out.html")
    page = (notes.path / "out.html").read_text()
    assert "&lt;script&gt;" in page
    assert not re.search(r"<(script|img|link|iframe)|https?:|\x1b", page)
    assert "default-src 'none'" in page
    assert page == (notes.path / "out.html").read_text()


# --- which thing a word is ----------------------------------------------------------------------


def test_a_word_that_is_two_things_names_both(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/x")
    adopted.write("s", "a file\n")
    adopted.commit()
    said = adopted.refused("blame", "s", code=2)
    assert "a session and a file" in said
    assert "`session:s` or `path:s`" in said
    assert adopted.pvc("blame", "path:s", "--json").json["over"] == "file"
    assert adopted.pvc("blame", "session:s", "--json").json["over"] == "prompt"


# --- prompts, cold and warm ---------------------------------------------------------------------


@pytest.fixture
def pinned(adopted: Clone) -> Clone:
    """Two versions and a session."""
    adopted.write("agent/20-rules.md", "# Rules\n\nWork in {cwd}.\nAlways force a push.\n")
    adopted.write("agent/30-more.md", 'Naïve — 漢字 "quotes".\n')
    adopted.commit("Be bold")
    adopted.pvc("supersede", "agent", "-m", 'Reviews "took" too long\n\nand more')
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/srv/\x1b[1m\té")
    return adopted


QUESTIONS = [
    ("s",),
    ("s", "--json"),
    ("session:s",),
    ("agent@1", "--set", "cwd=/a"),
    ("agent", "--set", "cwd=/a", "--json"),
    ("s", "--byte", "40..60"),
    ("s", "--section", "20-rules.md", "--json"),
    ("s", "--byte", "3", "--json"),
]


def emptied(clone: Clone) -> None:
    for file in (clone.path / ".git/pvc/cache/owners").glob("*"):
        file.unlink()


@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_a_warm_answer_is_the_cold_one(pinned: Clone, words: tuple[str, ...]) -> None:
    emptied(pinned)
    cold = pinned.pvc("blame", *words)
    assert list((pinned.path / ".git/pvc/cache/owners").glob("*"))
    warm = pinned.pvc("blame", *words)
    assert (warm.out, warm.err) == (cold.out, cold.err)


def test_text_of_a_pack_is_named_by_the_packs_version_cold_and_warm(adopted: Clone) -> None:
    adopted.write("house/pvc.toml", 'format = 1\nkind = "pack"\nname = "house"\nform = "plain"\n')
    adopted.write("house/0.md", "The house.\n")
    adopted.commit()
    adopted.pvc("supersede", "house", "-m", "A house")
    adopted.pvc("supersede", "agent", "--pack", "house=1", "-m", "Stand on it")
    words = ("blame", "agent", "--set", "cwd=/srv")
    cold, warm = adopted.pvc(*words).text, adopted.pvc(*words).text
    assert warm == cold
    assert re.search(r"^ +0  house@1 [0-9a-f]{12} Ada Osei ", cold, re.MULTILINE), cold


MODULES = (
    "import os, sys; before = set(sys.modules)\n"
    "def leave(code):\n"
    "    names = sorted(set(sys.modules) - before)\n"
    "    open('modules', 'w').write('\\n'.join(names)); exit_now(code)\n"
    "exit_now, os._exit = os._exit, leave\n"
    "from pvc.main import main; main()"
)


@pytest.mark.parametrize("words", [("s",), ("s", "--json"), ("agent@1", "--set", "cwd=/a")])
def test_a_warm_blame_loads_no_git_library_and_no_click(
    pinned: Clone, words: tuple[str, ...]
) -> None:
    pinned.pvc("blame", *words)
    done = pinned.run([sys.executable, "-c", MODULES, "blame", *words])
    assert done.code == 0, done.err
    loaded = set((pinned.path / "modules").read_text().split("\n"))
    slow = {"pygit2", "numpy", "click", "dataclasses", "re", "json", "typing", "subprocess"}
    assert not loaded & slow
    assert "pvc.launch.blame" in loaded


@pytest.mark.parametrize("damage", [b"", b"pvc.owners/1 x", b"pvc.owners/2 "])
def test_a_damaged_table_is_made_again(pinned: Clone, damage: bytes) -> None:
    right = pinned.pvc("blame", "s").out
    (file,) = (pinned.path / ".git/pvc/cache/owners").glob("*")
    whole = file.read_bytes()
    for data in (damage, whole[:-1], whole.replace(b"Be bold", b"Be cold")):
        file.write_bytes(data)
        assert pinned.pvc("blame", "s").out == right
        assert file.read_bytes() == whole


def test_a_new_version_takes_over_what_is_known(pinned: Clone) -> None:
    pinned.pvc("blame", "agent", "--set", "cwd=/a")
    pinned.write("agent/10-role.md", "# Role\n\nYou mend harbour ships.\n")
    pinned.commit("Ships")
    pinned.pvc("supersede", "agent", "-m", "Ships")
    further = pinned.pvc("blame", "agent", "--set", "cwd=/a", "--json").json
    emptied(pinned)
    for file in (pinned.path / ".git/pvc/cache/blame").glob("*/*"):
        file.unlink()
    assert pinned.pvc("blame", "agent", "--set", "cwd=/a", "--json").json == further


def test_options_of_the_differ_hold_for_prompts_too(pinned: Clone) -> None:
    plain = pinned.pvc("blame", "agent", "--set", "cwd=/a", "--json").json["runs"]
    ignoring = pinned.pvc(
        "blame", "agent", "--set", "cwd=/a", "--json", "--ignore-rev", "HEAD"
    ).json["runs"]
    assert plain != ignoring
    again = pinned.pvc("blame", "agent", "--set", "cwd=/a", "--json").json["runs"]
    assert again == plain


def test_glue_names_its_rule_and_a_value_its_place(pinned: Clone) -> None:
    runs = pinned.pvc("blame", "s", "--json").json["runs"]
    kinds = {run["origin"]["kind"]: run for run in runs}
    assert kinds["glue"]["origin"]["rule"] == "plain/1/joint"
    assert kinds["binding"]["origin"]["pointer"] == "/cwd"
    assert kinds["binding"]["version"] == 1


def test_a_value_names_the_first_session_that_had_it(pinned: Clone) -> None:
    for session, where in (("a", "/new"), ("b", "/other"), ("c", "/new")):
        pinned.pvc("pin", "agent", "--session", session, "--set", f"cwd={where}")
    runs = pinned.pvc("blame", "c", "--first", "--json").json["runs"]
    (value,) = [run for run in runs if run["origin"]["kind"] == "binding"]
    assert value["first"]["session"] == "a"
    for body in (pinned.path / ".git/pvc/spool/b").glob("*"):
        if b"srv" in body.read_bytes():
            body.unlink()
    runs = pinned.pvc("blame", "c", "--first", "--json").json["runs"]
    (value,) = [run for run in runs if run["origin"]["kind"] == "binding"]
    assert value["first"] == "unknown"


def test_text_that_a_version_put_back_names_the_version_before(pinned: Clone) -> None:
    pinned.write("agent/20-rules.md", "# Rules\n\nWork in {cwd}.\nNever force a push.\n")
    pinned.commit("Back")
    pinned.pvc("supersede", "agent", "-m", "Back to reviews")
    runs = pinned.pvc("blame", "agent", "--set", "cwd=/a", "--first", "--json").json["runs"]
    (back,) = [run for run in runs if "first" in run and run["version"] == 3]
    assert [one["version"] for one in back["first"]] == [1]


TOOLS = [
    {"name": "read_file", "description": "Reads a file.", "input_schema": {"type": "object"}},
    {"name": "stray", "description": "Nobody declares it.", "input_schema": {"type": "object"}},
]


def test_a_head_has_tools_from_their_declaration_or_from_nowhere(adopted: Clone) -> None:
    adopted.write("agent/tools/read.json", json.dumps(TOOLS[0], indent=2) + "\n")
    wrote = adopted.commit("Declare a tool")
    adopted.pvc("supersede", "agent", "-m", "A tool")
    adopted.write("tools.json", json.dumps(TOOLS))
    pinned = ("--session", "s", "--set", "cwd=/x", "--tools", "tools.json", "--json")
    record = adopted.pvc("pin", "agent", *pinned).json
    answer = adopted.pvc("blame", "s", "--head", "--json").json
    assert (answer["over"], answer["digest"]) == ("head", record["head_digest"])
    runs = answer["runs"]
    assert [0, *(r["end"] for r in runs)] == [*(r["start"] for r in runs), answer["bytes"]]
    tools = [run for run in runs if run["region"] == "tools" and run["origin"]["kind"] != "glue"]
    declared = [run for run in tools if run["origin"]["path"] == "tools/read.json"]
    assert {run["source"]["commit"] for run in declared} == {wrote}
    assert sum(r["end"] - r["start"] for r in declared) == len("read_fileReads a file.") + len(
        '{"type":"object"}'
    )
    stray = [run for run in tools if run["origin"]["kind"] == "tool"]
    assert {run["origin"]["pointer"].split("/")[2] for run in stray} == {"1"}
    assert {run["region"] for run in runs if run["section"]} == {"system"}


def test_merged_work_between_two_adoptions_belongs_to_its_branch(adopted: Clone) -> None:
    adopted.git("checkout", "-q", "-b", "side")
    bob = Clone(adopted.path, "Bob Lindqvist")
    bob.write("agent/20-rules.md", "# Rules\n\nWork in {cwd}.\nNever force a push, or ask Bob.\n")
    wrote = bob.commit("Ask Bob")
    adopted.git("checkout", "-q", "main")
    adopted.write("agent/10-role.md", "# Role\n\nYou mend harbour ships.\n")
    adopted.commit("Ships")
    adopted.git("merge", "-q", "--no-ff", "-m", "Merge side", "side")
    adopted.pvc("supersede", "agent", "-m", "Both")
    runs = adopted.pvc("blame", "agent", "--set", "cwd=/x", "--json").json["runs"]
    data = adopted.pvc("render", "agent", "--set", "cwd=/x").out
    asked = next(r for r in runs if b"ask Bob" in data[r["start"] : r["end"]])
    assert asked["source"]["commit"] == wrote
    assert asked["author"] == "Bob Lindqvist <bob@example.org>"


# --- terminals ----------------------------------------------------------------------------------


def on_a_terminal(clone: Clone, *words: str, **more: str) -> str:
    """What a person sees who runs `python` with some words."""
    read, terminal = pty.openpty()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        os.chdir(clone.path)
        for handle in (1, 2):
            os.dup2(terminal, handle)
        command = [sys.executable, *words]
        environment = clone.environment | {"TERM": "xterm"} | more
        os.execve(sys.executable, command, environment)  # noqa: S606 - a list, no shell
    os.close(terminal)
    parts = []
    while True:
        try:
            part = os.read(read, 4096)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(read)
    assert os.waitpid(child, 0)[1] == 0
    return b"".join(parts).decode()


def without_bar(text: str) -> str:
    """Leave out the bar that a slow machine shows, and takes away again."""
    return re.sub(r"(\r\w+ \[[#.]+\] \d+/\d+)+\r\x1b\[K", "", text)


@pytest.mark.parametrize("word", ["s", "agent/10-role.md"])
def test_a_terminal_gets_colour_and_the_users_pager(pinned: Clone, word: str) -> None:
    command = ("-m", "pvc", "blame", word)
    seen = without_bar(on_a_terminal(pinned, *command, GIT_PAGER="sed s/^/PAGED/"))
    assert seen.startswith("PAGED")
    assert "\x1b[33m" in seen
    pinned.git("config", "core.pager", "sed s/^/MINE/")
    assert without_bar(on_a_terminal(pinned, *command)).startswith("MINE")
    plain = without_bar(on_a_terminal(pinned, *command, GIT_PAGER="cat", NO_COLOR="1"))
    assert "\x1b" not in plain
    assert plain.replace("\r\n", "\n") == pinned.pvc("blame", word).text


BAR = """
import sys
from pvc.cli import progress
progress._PATIENCE_S = float(sys.argv[1])
with progress.progress("blame") as tell:
    for done in range(4):
        tell(done, 4)
"""


def test_long_work_shows_a_bar_that_goes_away(pinned: Clone) -> None:
    assert on_a_terminal(pinned, "-c", BAR, "1000") == ""
    shown = on_a_terminal(pinned, "-c", BAR, "0")
    assert shown.startswith("\rblame [")
    assert shown.endswith("\r\x1b[K")
    assert without_bar(shown) == ""


# --- log -S and bisect --------------------------------------------------------------------------


def test_a_phrase_is_found_in_rendered_text(adopted: Clone) -> None:
    for text in ("# Role\n\nYou mend ships.\n", "# Role\n\nYou sell ships.\n"):
        adopted.write("agent/10-role.md", text)
        adopted.commit()
        adopted.pvc("supersede", "agent", "-m", "Ships")
    found = adopted.pvc("log", "-S", "ships.\n\n# Rules", "--set", "cwd=/x", "--json").json
    assert found["trees"] == {"agent": {"first": 2, "last": 3}}
    assert [row["where"] for row in found["versions"]] == ["prompt", "prompt"]
    assert (
        "first seen in agent@2, last in agent@2"
        in adopted.pvc("log", "-S", "mend ships", "--tree", "agent", "--set", "cwd=/x").text
    )
    assert "None of 3 versions" in adopted.pvc("log", "-S", "aeroplanes").text


def test_where_values_are_missing_the_sources_are_searched_and_it_says_so(adopted: Clone) -> None:
    text = adopted.pvc("log", "agent", "-S", "Never force").text
    assert "in its sources" in text
    found = adopted.pvc("log", "agent", "-S", "Never force", "--json").json
    assert [row["where"] for row in found["versions"]] == ["sources"]
    adopted.refused("log", "agent", "-S", "", code=2)


def test_the_bisect_recipe_of_the_manual_finds_the_version(adopted: Clone, tmp_path: Path) -> None:
    """The script in docs/blame.md, as it stands there."""
    manual = (DOCS / "blame.md").read_text()
    recipe = re.search(r"```sh\n(# bisect\n.*?)```", manual, re.DOTALL)
    assert recipe
    bad = ""
    for number in range(2, 10):
        text = f"# Role\n\nYou mend ship {number}.\n" + ("Force a push.\n" if number >= 6 else "")
        adopted.write("agent/10-role.md", text)
        adopted.commit()
        adopted.pvc("supersede", "agent", "-m", f"Ship {number}")
        bad = bad or (adopted.git("rev-parse", "refs/pvc/trees/agent") if number == 6 else "")
    binary = tmp_path / "bin"
    binary.mkdir()
    script = binary / "pvc"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pvc "$@"\n')
    script.chmod(0o755)
    path = f"{binary}:{os.environ['PATH']}"
    done = adopted.run(["sh", "-e", "-c", recipe[1]], PATH=path)
    assert f"{bad} is the first bad commit" in done.text, done.text + done.err
    assert adopted.git("status", "--porcelain") == ""
