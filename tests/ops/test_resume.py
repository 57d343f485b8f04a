"""A session that is resumed after things may have moved: what is said, and what is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pvc.errors import DecodeError, NotFoundError, RefusedError, UsageError
from pvc.model.session import CONFIG
from pvc.ops.resume import Wanted, run
from pvc.ops.select import select_version
from pvc.ops.session import lines, log, show, tip
from pvc.packs import builtin_packs
from pvc.store.versions import write_builtin
from sessions import FILES, Sessions

if TYPE_CHECKING:
    from pathlib import Path

    from pvc.ops.resume import Resumed
    from workspace import Workspace

PANTO: dict[str, bytes | str] = {
    "agent/pvc.toml": 'format = 1\nname = "agent"\nform = "panto"\npacks = {builtin-panto = 1}\n',
    "agent/layers/base/SYSTEM.md": "Base seed.\n",
    "agent/layers/project/APPEND_SYSTEM.md": "Project adds.\n",
}
OLD = b'{"message":{"role":"system","content":[{"type":"text","text":"%s"}]}}\n'


@pytest.fixture
def plain(workspace: Workspace) -> Sessions:
    made = Sessions(workspace)
    made.adopt()
    made.pin()
    return made


@pytest.fixture
def panto(workspace: Workspace) -> Sessions:
    made = Sessions(workspace)
    (pack,) = [pack for pack in builtin_packs() if pack.name == "builtin-panto"]
    write_builtin(made.repo, pack.name, pack.files)
    made.adopt(PANTO)
    made.pin(wire="string")
    return made


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """The project layer's own folder, as it was when the session began."""
    folder = tmp_path / "live"
    folder.mkdir()
    (folder / "APPEND_SYSTEM.md").write_text("Project adds.\n")
    return folder


def resume(sessions: Sessions, **wanted: object) -> Resumed:
    return run(sessions.repo, "s", Wanted(**wanted))  # type: ignore[arg-type]  # as its fields say


def unchanged(sessions: Sessions, found: Resumed) -> None:
    """Nothing was recorded, and the session is what it was."""
    assert found.pin == tip(sessions.repo, "s")


# --- nothing moved ------------------------------------------------------------------------------


def test_nothing_moved(plain: Sessions) -> None:
    before = tip(plain.repo, "s")
    for found in (resume(plain), resume(plain, environment={"who": "Ann"}, reason="why")):
        assert (found.status, found.notes, found.difference) == ("same", (), None)
        assert found.pin == before


def test_no_layer_moved(panto: Sessions, live: Path) -> None:
    before = tip(panto.repo, "s")
    found = resume(panto, layers={"project": live}, reason="why")
    assert (found.status, found.entries, found.pin) == ("same", (), before)


# --- values moved -------------------------------------------------------------------------------


def test_values_moved_is_shown_with_owner_and_price_and_not_recorded(plain: Sessions) -> None:
    plain.change("Be brief.", author="ext:x")
    found = resume(plain, environment={"who": "Bob"})
    assert found.status == "differs"
    assert found.difference
    assert found.difference.byte == len("You are an agent.\n\nYou serve ")
    assert found.difference.pinned
    assert found.difference.pinned.to_json()["origin"]["pointer"] == "/who"  # type: ignore[index]  # an object
    assert found.difference.given == "the value `/who`"
    marked, by_prefix = found.difference.costs
    assert marked.reuse.lost == marked.reuse.scope
    assert by_prefix.reuse.lost == len(b"Ann.\n\0text\0\n\nBe brief.\0")
    assert [pin.n for pin in found.discarded] == [1]
    unchanged(plain, found)


def test_values_moved_is_recorded_with_a_reason_as_a_re_pin(plain: Sessions) -> None:
    found = resume(plain, environment={"who": "Bob"}, reason="another captain")
    assert (found.status, found.pin.n, found.pin.reason) == ("recorded", 1, "another captain")
    assert show(plain.repo, "s").rendered.data.endswith(b"You serve Bob.\n")
    assert show(plain.repo, "s", 0).rendered.data.endswith(b"You serve Ann.\n")
    assert resume(plain, environment={"who": "Bob"}).status == "same"


# --- version adopted since ----------------------------------------------------------------------


def test_a_newer_version_is_said_and_the_session_stays(plain: Sessions) -> None:
    plain.adopt({**FILES, "agent/b.md": "You help {who}.\n"}, "Help, not serve")
    found = resume(plain)
    assert found.status == "same"
    assert found.notes[0].startswith("agent@2 was adopted since; session s stays at agent@1")
    unchanged(plain, found)


def test_what_moving_to_it_costs_is_shown_before_it_is_recorded(plain: Sessions) -> None:
    plain.adopt({**FILES, "agent/b.md": "You help {who}.\n"}, "Help, not serve")
    version = select_version(plain.repo, "agent")
    found = resume(plain, version=version)
    assert (found.status, found.notes) == ("differs", ())
    assert found.difference
    assert found.difference.pinned
    assert found.difference.pinned.version
    assert (found.difference.pinned.version.number, found.difference.given) == (1, "`b.md`")
    moved = resume(plain, version=version, reason="we agreed")
    assert (moved.status, moved.pin.label) == ("recorded", "agent@2")


def test_a_version_with_the_same_bytes_is_no_difference(plain: Sessions) -> None:
    plain.adopt({**FILES, "agent/pvc.toml": FILES["agent/pvc.toml"] + "\n"}, "A blank line")  # type: ignore[operator]  # a text
    found = resume(plain, version=select_version(plain.repo, "agent"), reason="why")
    assert (found.status, found.notes) == ("same", ("agent@2 gives the same bytes",))


# --- layer file edited --------------------------------------------------------------------------


def test_an_edited_layer_re_seeds_once_with_a_reason(panto: Sessions, live: Path) -> None:
    (live / "APPEND_SYSTEM.md").write_text("New adds.\n")
    found = resume(panto, layers={"project": live})
    assert found.status == "differs"
    assert [(str(e.mode), e.data, e.author) for e in found.entries] == [
        ("replace", b"Base seed.\n", CONFIG),
        ("append", b"New adds.\n", CONFIG),
    ]
    assert found.difference
    assert found.difference.given == f"`{live / 'APPEND_SYSTEM.md'}`"
    assert found.difference.byte == len("Base seed.\n\n---\n\n")
    marked, by_prefix = found.difference.costs
    assert (marked.reuse.kept, by_prefix.reuse.lost) == (0, len("Project adds.\0"))
    unchanged(panto, found)
    recorded = resume(panto, layers={"project": live}, reason="house rules")
    assert (recorded.status, recorded.pin.n) == ("recorded", 2)
    assert show(panto.repo, "s").rendered.data == b"Base seed.\n\n---\n\nNew adds."
    again = resume(panto, layers={"project": live}, reason="house rules")
    assert (again.status, again.pin.n) == ("same", 2)


def test_a_layer_file_that_is_gone_gives_way_to_the_layer_below(
    panto: Sessions, tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    found = resume(panto, layers={"base": empty})
    (pack,) = [pack for pack in builtin_packs() if pack.name == "builtin-panto"]
    builtin = next(file.data for file in pack.files if file.path == "SYSTEM.md")
    assert [entry.data for entry in found.entries] == [builtin, b"Project adds.\n"]


def test_a_re_seed_that_was_cut_short_is_completed(panto: Sessions, live: Path) -> None:
    (live / "APPEND_SYSTEM.md").write_text("New adds.\n")
    panto.change("Base seed.\n", "replace", CONFIG)  # as far as a killed resume came
    assert resume(panto, layers={"project": live}, reason="again").status == "recorded"
    assert show(panto.repo, "s").rendered.data == b"Base seed.\n\n---\n\nNew adds."


# --- extension entry present --------------------------------------------------------------------


def test_an_extensions_entry_is_said_and_no_difference(panto: Sessions, live: Path) -> None:
    panto.change("Be brief.", author="ext:x")
    found = resume(panto, layers={"project": live}, reason="why")
    assert (found.status, found.notes) == ("same", ("1 entry of others: ext:x",))
    unchanged(panto, found)


def test_a_re_seed_names_the_extensions_entry_that_it_discards(panto: Sessions, live: Path) -> None:
    panto.change("Be brief.", author="ext:x")
    (live / "APPEND_SYSTEM.md").write_text("New adds.\n")
    found = resume(panto, layers={"project": live})
    assert [(pin.n, pin.entry.author) for pin in found.discarded if pin.entry] == [(1, "ext:x")]


# --- log from an older tool ---------------------------------------------------------------------


def test_an_older_log_without_modes_says_the_same(panto: Sessions) -> None:
    old = b"".join(OLD % text for text in (rb"Base seed.\n", rb"Project adds.\n"))
    found = resume(panto, log=old, reason="why")
    assert (found.status, found.notes) == ("same", ())
    unchanged(panto, found)


def test_what_an_older_log_has_more_is_recorded_without_an_author(
    panto: Sessions, live: Path
) -> None:
    old = b"".join(OLD % text for text in (rb"Base seed.\n", rb"Project adds.\n", b"X"))
    assert resume(panto, log=old).status == "differs"
    recorded = resume(panto, log=old, reason="told outside of pvc")
    assert (recorded.status, recorded.pin.n) == ("recorded", 1)
    assert recorded.pin.entry
    assert recorded.pin.entry.author == ""
    assert show(panto.repo, "s").rendered.data.endswith(b"\n\n---\n\nX")
    assert resume(panto, log=old).status == "same"
    literal = resume(panto, layers={"project": live})  # nobody can tell whose it was
    assert (literal.status, len(literal.entries)) == ("differs", 2)


def test_a_log_that_contradicts_the_pins_is_told_and_never_recorded(panto: Sessions) -> None:
    other = OLD % rb"Base seed.\n" + OLD % b"Other."
    found = resume(panto, log=other)
    assert (found.status, found.entries) == ("differs", ())
    assert "entry 2 of the log is not what was pinned at position 0" in found.notes[-1]
    with pytest.raises(RefusedError, match="entry 2 of the log"):
        resume(panto, log=other, reason="why")
    unchanged(panto, found)


# --- log cut in the middle ----------------------------------------------------------------------


def test_a_log_cut_within_its_last_line(panto: Sessions) -> None:
    panto.change("Be brief.", author="ext:x")
    whole = lines(panto.repo, "s")
    assert resume(panto, log=whole).notes == ("1 entry of others: ext:x",)
    found = resume(panto, log=whole[:-20], reason="why")
    assert found.status == "same"
    assert found.notes[1].startswith("line 3 is cut off: ")
    assert found.notes[2].startswith("the log lacks the last 1 of 3 entries; the pins hold them")
    unchanged(panto, found)


def test_a_log_cut_between_two_lines(panto: Sessions) -> None:
    panto.change("Be brief.", author="ext:x")
    short = b"".join(lines(panto.repo, "s").splitlines(keepends=True)[:1])
    found = resume(panto, log=short, reason="why")
    assert (found.status, found.entries) == ("same", ())
    assert found.notes[1].startswith("the log lacks the last 2 of 3 entries")
    unchanged(panto, found)


def test_a_log_that_is_damaged_inside_is_refused_with_its_line(panto: Sessions) -> None:
    with pytest.raises(DecodeError, match="log:2"):
        resume(panto, log=OLD % rb"Base seed.\n" + b"{\n" + OLD % b"x")


# --- what cannot be asked -----------------------------------------------------------------------


def test_questions_that_make_no_sense(panto: Sessions, live: Path) -> None:
    with pytest.raises(UsageError, match="three questions"):
        resume(panto, environment={}, log=b"")
    with pytest.raises(UsageError, match="no layer `team`"):
        resume(panto, layers={"team": live})
    with pytest.raises(NotFoundError, match="layer `user` is no folder"):
        resume(panto, layers={"user": live / "gone"})


def test_only_panto_has_layers(plain: Sessions, live: Path) -> None:
    with pytest.raises(UsageError, match="only a session of form `panto`"):
        resume(plain, layers={"project": live})


def test_the_log_of_a_resumed_session_still_shows_all_of_it(panto: Sessions, live: Path) -> None:
    panto.change("Be brief.", author="ext:x")
    (live / "APPEND_SYSTEM.md").write_text("New adds.\n")
    resume(panto, layers={"project": live}, reason="house rules")
    assert [pin.n for pin in log(panto.repo, "s").pins] == [0, 1, 2, 3]
    assert log(panto.repo, "s").standing == {2, 3}
