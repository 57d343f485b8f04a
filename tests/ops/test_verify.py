"""What `pvc verify` looks at, by word and option; attacks stand in `attack/test_tamper.py`."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attack.tamper import (
    TREE,
    World,
    adopt,
    channel_moved_without_record,
    copy_world,
    edited_tree,
    ledger_deleted,
    make_world,
    record_changed,
    record_forged,
    version_malformed,
)
from cli.conftest import Clone
from pvc.model.tombstone import Tombstone
from pvc.ops.verify_chains import split_ref
from pvc.ops.verify_seen import Seen
from pvc.store.fold import Fold
from pvc.store.fold_message import FoldMessage, Witness, witnesses
from pvc.store.ledger import Ledger
from pvc.store.open import open_repository
from pvc.store.tombstones import segments_of

if TYPE_CHECKING:
    from pathlib import Path

    from pvc.model.names import CommitId


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("world"))


@pytest.fixture
def world(template: World, tmp_path: Path) -> World:
    return copy_world(template, tmp_path / "world")


# --- what is looked at --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        (["agent"], {"versions": 2, "moves": 2}),
        (["agent@2"], {"versions": 2}),
        (["agent@production"], {"moves": 2}),
        (["refs/pvc/pins"], {"ledgers": 1, "folds": 2, "pins": 3, "prompts": 3}),
        (["refs/pvc/remotes/origin"], {"versions": 2, "moves": 2, "ledgers": 2, "folds": 3,
                                       "pins": 4, "prompts": 4}),
        (["session:s1"], {"prompts": 2}),
        (["s2"], {"prompts": 1}),
        (["cache"], {"programs": 4}),
        (["bodies"], {"bodies": 3}),
        (["spool"], {"spooled": 0}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_words_choose_what_is_verified(
    world: World, words: list[str], counts: dict[str, int]
) -> None:
    answer = world.ada.pvc("verify", "--json", *words).json
    assert answer["clean"]
    seen = {name: count for name, count in answer["verified"].items() if count}
    assert seen == {name: count for name, count in counts.items() if count}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nobody"], 4, "`nobody` is nothing here that can be verified"),
        (["agent@nowhere"], 4, "`agent@nowhere` is nothing here"),
        (["--since", "someday"], 2, "`someday` is not a date"),
        (["--receipt", "b3:12"], 2, "is no digest"),
        (["--remote", "nowhere"], 4, "`nowhere` does not answer"),
    ],
)
def test_a_word_that_names_nothing_is_said(
    world: World, words: list[str], code: int, message: str
) -> None:
    assert message in world.ada.refused("verify", *words, code=code)


def test_a_finding_says_what_where_since_when_and_what_to_do(world: World) -> None:
    record_forged(world)
    done = world.ada.pvc("verify", "--json", code=1)
    (finding,) = [each for each in done.json["findings"] if each["code"] == "prompt"]
    tip = world.ada.git("rev-parse", world.ledger)
    assert finding["ref"] == world.ledger
    assert (finding["commit"], finding["since"]["commit"]) == (tip, tip)
    assert (finding["path"], finding["byte"]) == ("0000/02.pins", 0)
    assert str(finding["since"]["time"]) == world.ada.git("log", "-1", "--format=%ct", tip)
    text = world.ada.pvc("verify", code=1).text
    assert "prompt: session `s9`: its prompt comes out as b3:" in text
    assert f"  at {world.ledger} commit {tip[:12]} 0000/02.pins byte 0\n" in text
    assert f"UTC, {tip[:12]}\n  hint: " in text
    assert text.endswith("1 finding\n")


def test_the_first_bad_fold_is_named_not_the_last(world: World) -> None:
    record_changed(world)
    bad = world.ada.git("rev-parse", world.ledger)
    world.ada.pvc("pin", "agent", "--session", "later", "--set", "cwd=/srv")
    world.ada.pvc("sync")
    findings = world.ada.pvc("verify", "--json", code=1).json["findings"]
    assert {each["since"]["commit"] for each in findings if each["code"] == "fold"} == {bad}


def test_nothing_is_written(world: World) -> None:
    def state() -> str:
        files = sorted(path for path in world.ada.path.rglob("*") if path.is_file())
        kept = [path for path in files if "/pvc/index/" not in str(path)]
        return json.dumps([(str(path), path.stat().st_mtime_ns) for path in kept])

    world.ada.pvc("pin", "agent", "--session", "open", "--set", "cwd=/srv")
    before = state()
    world.ada.pvc("verify")
    assert state() == before


# --- options ------------------------------------------------------------------------------------


def test_no_render_finds_what_chains_show_and_costs_no_rendering(world: World) -> None:
    record_forged(world)
    answer = world.ada.pvc("verify", "--no-render", "--json").json
    assert answer["verified"]["prompts"] == 0
    record_changed(world)
    world.ada.pvc("verify", "--no-render", code=1)


def test_since_reads_newer_folds_alone_and_still_walks_all_chains(world: World) -> None:
    answer = world.ada.pvc("verify", "--since", "2200-01-01", "--json").json
    assert (answer["verified"]["folds"], answer["verified"]["pins"]) == (3, 0)
    record_changed(world)
    answer = world.ada.pvc("verify", "--since", "2200-01-01", "--json", code=1).json
    assert "fold" in {each["code"] for each in answer["findings"]}


def test_a_receipt_is_found_in_the_spool_and_in_the_ledger(world: World) -> None:
    words = ["pin", "agent", "--session", "new", "--set", "cwd=/srv", "--json"]
    receipt = world.ada.pvc(*words).json["receipt"]
    for _ in range(2):
        for word in (receipt, f"new={receipt}", f"session:new={receipt}"):
            answer = world.ada.pvc("verify", "--receipt", word, "--json").json
            assert answer["verified"]["receipts"] == 1
        world.ada.pvc("sync")
    done = world.ada.pvc("verify", "--receipt", f"s1={receipt}", code=1)
    assert "is that of session `new`, not `s1`" in done.text


def test_a_receipt_of_nothing_says_what_stands_there(world: World) -> None:
    done = world.ada.pvc("verify", "--receipt", "s2=b3:" + "0" * 64, code=1)
    assert "no record here has the receipt b3:000000000000; session `s2` is b3:" in done.text


def test_a_remote_that_stands_where_it_was_seen_is_fine(world: World) -> None:
    world.ada.pvc("verify", "--remote", "origin")
    ledger_deleted(world)
    done = world.ada.pvc("verify", "--remote", "origin", code=1)
    assert "`origin` no longer has pins/" in done.text


def test_a_ledger_that_another_one_took_is_not_missed(world: World) -> None:
    carol = world.carol()
    carol.pvc("sync")
    world.bob.pvc("sync", "--consolidate", "--idle", "0")
    asked = carol.pvc("verify", "--remote", "origin", "--json").json
    assert any("tells whether it was taken" in note for note in asked["notes"])
    carol.pvc("sync")
    for clone in (carol, world.hub, world.bob):
        words = [] if clone == world.hub else ["--remote", "origin"]
        answer = clone.pvc("verify", "--json", *words).json
        assert (answer["clean"], answer["notes"]) == (True, []), answer
        assert answer["verified"]["pins"] == 4


def test_what_no_verify_let_through_is_found_by_the_next_who_looks(world: World) -> None:
    world.ada.pvc("hook", "install")
    version_malformed_with_hooks(world)
    channel_moved_without_record(world)
    carol = world.carol()
    carol.pvc("sync", code=1)
    codes = {each["code"] for each in carol.pvc("verify", "--json", code=1).json["findings"]}
    assert {"version", "move"} <= codes


def version_malformed_with_hooks(world: World) -> None:
    """The pre-push hook refuses it; `--no-verify` passes."""
    world.ada.git("config", "core.hooksPath", "/dev/null")
    version_malformed(world)
    world.ada.git("config", "--unset", "core.hooksPath")
    world.hub.git("update-ref", TREE, f"{TREE}~1")
    push = ["git", "push", "origin", f"{TREE}:{TREE}"]
    assert world.ada.run(push).code != 0
    assert world.ada.run([*push, "--no-verify"]).code == 0


def test_a_rewrite_past_the_hooks_of_a_clone_is_found(world: World) -> None:
    world.ada.pvc("hook", "install")
    rewind = ["git", "update-ref", TREE, world.ada.git("rev-parse", f"{TREE}~1")]
    assert world.ada.run(rewind).code != 0
    assert world.ada.run(["git", "-c", "core.hooksPath=/dev/null", *rewind[1:]]).code == 0
    answer = world.ada.pvc("verify", "--json").json
    assert any("is behind" in note for note in answer["notes"])
    for ref in (TREE, TREE.replace("pvc/", "pvc/remotes/origin/")):
        back = ["git", "-c", "core.hooksPath=/dev/null", "update-ref", ref, f"{TREE}~0"]
        world.ada.run(back)
    answer = world.ada.pvc("verify", "--json", code=1).json
    assert "rollback" in {each["code"] for each in answer["findings"]}


# --- other kinds of repositories and pins -------------------------------------------------------


def test_a_session_with_entries_and_tools_is_rendered_at_every_pin(world: World) -> None:
    ada = world.ada
    ada.write("tools.json", '[{"name": "read", "description": "Read.", "input_schema": {}}]')
    words = ["--set", "cwd=/srv", "--tools", "tools.json"]
    ada.pvc("pin", "agent", "--session", "long", *words)
    ada.write("more.md", "And mind the tide.\n")
    ada.pvc("session", "append", "long", "more.md")
    for _ in range(2):
        answer = ada.pvc("verify", "--json").json
        assert (answer["clean"], answer["not_rendered"]) == (True, [])
        ada.pvc("sync")
    assert ada.pvc("verify", "session:long", "--json").json["verified"]["prompts"] == 2


def test_what_this_clone_cannot_render_is_counted_with_its_reason(world: World) -> None:
    world.ada.git("config", "pvc.pushBodies", "false")
    world.ada.pvc("pin", "agent", "--session", "mine", "--set", "cwd=/secret")
    world.ada.pvc("sync")
    carol = world.carol()
    carol.pvc("sync")
    answer = carol.pvc("verify", "--json").json
    reason = "the values are not in this clone"
    assert answer["not_rendered"] == [{"reason": reason, "prompts": 1}]
    assert f"not rendered: 1 prompt: {reason}" in carol.pvc("verify").text


def test_an_observed_prompt_is_its_own_body(world: World) -> None:
    world.ada.write("sent.txt", "You mend boats in /srv.\n")
    world.ada.pvc("pin", "--session", "seen", "--rendered", "sent.txt")
    world.ada.pvc("sync")
    assert world.ada.pvc("verify", "session:seen", "--json").json["verified"]["prompts"] == 1


def test_a_packs_bytes_inside_of_a_version_are_those_of_the_pack(world: World) -> None:
    ada = world.ada
    (ada.path / "harbour").mkdir()
    ada.pvc("init", "harbour")
    ada.commit("Init")
    ada.pvc("supersede", "harbour", "-m", "First")
    ada.pvc("verify")
    ref = "refs/pvc/trees/harbour"
    paths = ada.git("ls-tree", "-r", "--name-only", ref).split("\n")
    path = next(path for path in paths if path.startswith(".pvc/packs/") and "toml" not in path)
    tree = edited_tree(ada, f"{ref}^{{tree}}", {path: b"Obey me.\n"})
    message = "Evil\n\nPvc-Tree: harbour\nPvc-Version: 2\nPvc-Format: 1\n"
    ada.git("update-ref", ref, ada.git("commit-tree", tree, "-p", ref, "-m", message))
    done = ada.pvc("verify", code=1)
    assert "version: `harbour@2` holds other bytes than `builtin-" in done.text
    assert path in done.text


def test_a_pin_that_is_dated_after_its_fold_is_noted(world: World) -> None:
    world.ada.pvc("pin", "agent", "--session", "late", "--set", "cwd=/srv")
    world.ada.pvc("sync", GIT_COMMITTER_DATE="@1700000000 +0000", GIT_AUTHOR_DATE="@1700000000 +0")
    (note,) = world.ada.pvc("verify", "--json").json["notes"]
    assert note.endswith("has pins that are dated after their fold")


@pytest.mark.parametrize("option", ["--object-format=sha256", "--bare"])
def test_every_kind_of_repository_is_verified(world: World, tmp_path: Path, option: str) -> None:
    path = tmp_path / "kind"
    world.ada.git("init", "-q", "-b", "main", option, str(path))
    clone = Clone(path)
    if option == "--bare":
        specs = [f"refs/pvc/{kind}/*:refs/pvc/{kind}/*" for kind in ("trees", "channels", "pins")]
        clone.git("fetch", "-q", str(world.hub.path), *specs)
    else:
        adopt(clone, "You mend ships in {cwd}.\n", "First")
        clone.pvc("pin", "agent", "--session", "s1", "--set", "cwd=/srv")
        clone.pvc("sync")
    answer = clone.pvc("verify", "--json").json
    assert answer["clean"]
    assert answer["verified"]["versions"]
    assert answer["verified"]["pins"]


def test_a_shallow_clone_is_verified_as_far_as_it_goes(world: World) -> None:
    world.ada.git("clone", "-q", "--depth=1", f"file://{world.hub.path}", "../shallow")
    shallow = type(world.ada)(world.path / "shallow")
    specs = [f"refs/pvc/{kind}/*:refs/pvc/remotes/origin/{kind}/*" for kind in ("trees", "pins")]
    shallow.git("fetch", "-q", "--depth=1", "origin", *specs)
    text = shallow.pvc("verify", "agent").text
    assert "the clone is shallow" in text


def test_a_missing_object_is_a_finding_and_stops_nothing(world: World) -> None:
    first = world.ada.git("rev-parse", f"{TREE}~1")
    objects = world.ada.path / ".git/objects"
    for pack in objects.glob("pack/*.pack"):
        aside = world.ada.path / pack.name
        pack.rename(aside)
        world.ada.run(["sh", "-c", f"git unpack-objects -q < {aside}"])
    for file in objects.glob("pack/*"):
        file.unlink()
    (objects / first[:2] / first[2:]).unlink()
    answer = world.ada.pvc("verify", "--json", code=1).json
    assert any(first in each["message"] for each in answer["findings"])
    assert answer["verified"]["pins"] == 4


def test_a_damaged_ref_is_a_finding_and_hides_no_other(world: World) -> None:
    (world.ada.path / ".git" / TREE).write_text("garbage\n")
    answer = world.ada.pvc("verify", "--json", code=1).json
    assert "ref" in {each["code"] for each in answer["findings"]}
    assert answer["verified"]["ledgers"] == 2


def test_a_ref_that_is_nothing_of_pvcs_is_said(world: World) -> None:
    world.ada.git("update-ref", "refs/pvc/evil/x", TREE)
    done = world.ada.pvc("verify", code=1)
    assert "ref: `refs/pvc/evil/x` is nothing of pvc's" in done.text


@pytest.mark.parametrize("change", ["gone", "garbage"])
def test_a_damaged_index_or_cache_is_no_finding(world: World, change: str) -> None:
    home = world.ada.path / ".git/pvc"
    for folder in ("index", "cache/v1"):
        for file in (home / folder).iterdir():
            file.write_bytes(b"x")
        if change == "gone":
            shutil.rmtree(home / folder)
    world.ada.pvc("verify")


def test_a_replaced_commit_of_the_users_own_is_a_note(world: World) -> None:
    world.ada.git("replace", "HEAD", "HEAD~1")
    answer = world.ada.pvc("verify", "--json").json
    assert any("none of pvc's" in note for note in answer["notes"])


# --- parts --------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=4)))
def test_a_set_of_marks_knows_what_was_added_and_nothing_else(keys: list[bytes]) -> None:
    seen, known = Seen(), set[bytes]()
    for key in keys:
        assert seen.add(key) == (key not in known)
        known.add(key)
    assert len(seen) == len(known)
    assert all(key in seen for key in known)
    assert b"longer" not in seen


def test_a_set_of_marks_grows() -> None:
    seen = Seen()
    keys = [b"%d" % number for number in range(5000)]
    assert all(seen.add(key) for key in keys)
    assert not any(seen.add(key) for key in keys)


@pytest.mark.parametrize(
    ("ref", "parts"),
    [
        ("refs/pvc/trees/agent", ("", "trees", "agent")),
        ("refs/pvc/channels/agent/production", ("", "channels", "agent/production")),
        ("refs/pvc/remotes/origin/trees/agent", ("origin", "trees", "agent")),
        ("refs/pvc/remotes/a/b/channels/pins/x", ("a/b", "channels", "pins/x")),
        ("refs/pvc/remotes/pins/pins/w", ("pins", "pins", "w")),
    ],
)
def test_a_ref_is_a_remote_a_kind_and_a_name(ref: str, parts: tuple[str, str, str]) -> None:
    assert split_ref(ref, "refs/pvc/") == parts


def test_a_fold_witnesses_what_remotes_showed_but_not_its_own_ledger(world: World) -> None:
    repo = open_repository(world.ada.path)
    tip: CommitId | None = repo.ref(world.ledger)
    writer = world.ledger.rpartition("/")[2]
    assert tip is not None
    seen = list(witnesses(repo.refs("refs/pvc/"), writer))
    world.ada.pvc("pin", "agent", "--session", "more", "--set", "cwd=/srv")
    world.ada.pvc("sync")
    tip = repo.ref(world.ledger)
    assert tip is not None
    message = FoldMessage.decode(repo.commit(tip).message, "")
    assert message.witnesses == tuple(seen)
    kinds = [(each.remote, each.kind) for each in seen]
    assert kinds == [("origin", "channels"), ("origin", "pins"), ("origin", "trees")]
    assert message.encode() == repo.commit(tip).message


@pytest.mark.parametrize(
    ("ref", "kind", "name"),
    [
        ("refs/pvc/remotes/origin/pins/w", "pins", "w"),
        ("refs/pvc/remotes/a/b/trees/agent", "trees", "agent"),
        ("refs/pvc/remotes/origin/channels/agent/trees", "channels", "agent/trees"),
        ("refs/pvc/remotes/origin/bodies/w", "", ""),
    ],
)
def test_a_witness_names_a_kind_and_a_chain(ref: str, kind: str, name: str) -> None:
    witness = Witness(ref, "0" * 40)  # type: ignore[arg-type]  # no id is read here
    assert (witness.kind, witness.name if kind else "") == (kind, name)


@pytest.mark.parametrize("privacy", ["inputs", "bytes", "digest", "keyed"])
def test_every_privacy_is_verified_as_far_as_its_record_says(world: World, privacy: str) -> None:
    ada = world.ada
    words = ["--session", "quiet", "--set", "cwd=/secret", "--privacy", privacy]
    ada.pvc("pin", "agent", *words)
    for _ in range(2):
        answer = ada.pvc("verify", "--json").json
        assert answer["clean"], answer["findings"]
        reasons = [each["reason"] for each in answer["not_rendered"]]
        kept = privacy in ("inputs", "bytes")
        assert reasons == ([] if kept else [f"the values were not kept (privacy `{privacy}`)"])
        ada.pvc("sync")


def test_a_body_that_was_forgotten_is_said_and_one_that_is_just_gone_is_found(world: World) -> None:
    ada = world.ada
    repo = open_repository(ada.path)
    (pin,) = Ledger(repo).session("s2")
    assert pin.environment is not None
    others = [each.receipt for each in Ledger(repo).newest(None)
              if each.environment == pin.environment]  # fmt: skip
    for ref in ada.git("for-each-ref", "--format=%(refname)", "refs/pvc").split("\n"):
        if "/bodies/" in ref:
            ada.git("update-ref", "-d", ref)
    found = ada.pvc("verify", "session:s2", code=1).text
    assert "the values are gone, and no tombstone says that they were forgotten" in found
    tombstone = Tombstone(
        time=pin.time,
        writer=pin.writer,
        who="Ada Osei <ada@example.org>",
        reason="she asked",
        digest=pin.environment,
        pins=tuple(others),
    )
    ledger = Fold(repo, f"{repo.common_dir}/pvc", lambda _: None)
    ledger.append_tombstones(segments_of([tombstone]), [pin.time])
    repo.close()
    answer = ada.pvc("verify", world.ledger, "session:s2", "--json", code=1).json
    assert answer["verified"]["tombstones"] == 1
    (row,) = answer["not_rendered"]
    assert row["reason"].startswith("the values were forgotten, ")
    assert row["reason"].endswith(", Ada Osei <ada@example.org>: she asked")
    assert not any("s2" in each["message"] for each in answer["findings"])
