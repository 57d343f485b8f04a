"""Ledgers, spools and caches that are damaged or forged: said, and nobody else stands still."""

from collections.abc import Callable
from typing import Any

import pytest

from cli.conftest import Clone
from pvc.launch import cache

WRITER = "f" * 32
REF = f"refs/pvc/pins/{WRITER}"

FILES = ["00.pins", "00.idx"]


def object_of(clone: Clone, data: bytes, *words: str) -> str:
    clone.write("object", data)
    return clone.git("hash-object", "-w", *words, "object")


def folder(clone: Clone, *rows: str) -> str:
    clone.write("rows", "".join(row + "\n" for row in rows))
    done = clone.run(["bash", "-c", "git mktree --missing < rows"])
    assert done.code == 0, done.err
    return done.text.strip()


def forge(hub: Clone, outer: str, names: list[str], data: bytes = b"hi") -> None:
    """Give the hub a ledger of another clone: one folder `outer` with files `names`."""
    blob = object_of(hub, data)
    inner = folder(hub, *(f"100644 blob {blob}\t{name}" for name in sorted(names)))
    root = folder(hub, f"040000 tree {inner}\t{outer}")
    hub.git("update-ref", REF, hub.git("commit-tree", root, "-m", "fold 1 pin"))


def forge_a_blob(hub: Clone) -> None:
    hub.git("update-ref", REF, object_of(hub, b"x"))


FORGERIES: dict[str, tuple[Callable[[Clone], None], int]] = {
    "names that are no hex": (lambda hub: forge(hub, "yyyy", ["zz.pins", "zz.idx"]), 1),
    "a number beyond all bounds": (lambda hub: forge(hub, "f" * 12, FILES), 1),
    "no index": (lambda hub: forge(hub, "0000", ["00.pins"]), 1),
    "a blob": (forge_a_blob, 1),
    # What stands inside of a segment is looked at when pins are looked for.
    "an index that is cut": (lambda hub: forge(hub, "0000", FILES, b"hi" * 50), 0),
    "an index beyond the segment": (lambda hub: forge(hub, "0000", FILES, b"\xff" * 64), 0),
}


@pytest.mark.parametrize(("forgery", "code"), FORGERIES.values(), ids=FORGERIES)
def test_another_clones_broken_ledger_stops_nothing_here(
    hub: Clone, adopted: Clone, forgery: Callable[[Clone], None], code: int
) -> None:
    forgery(hub)
    adopted.pvc("sync", code=code)
    stays_away = forgery is forge_a_blob  # it is no ledger, so it is named as long as it is there
    adopted.pvc("sync", code=int(stays_away))
    assert adopted.pvc("show", "own").code == 0
    answer = adopted.pvc("pin", "agent", "--session", "new", "--set", "cwd=/", "--json").json
    assert answer["status"] == "pinned"
    assert "new" in adopted.pvc("blame", "new", "--json").json["subject"]["session"]
    log: Any = adopted.pvc("log", "--pins", "--json").json
    assert {pin["session"] for pin in log["pins"]} == {"own", "new"}
    assert stays_away or WRITER in adopted.pvc("log", "--pins").text or log["damage"]


def test_what_another_clone_mends_counts_again(hub: Clone, adopted: Clone, shared: Clone) -> None:
    shared.pvc("pin", "agent", "--session", "bobs", "--set", "cwd=/")
    shared.pvc("sync")
    name = next(line.split("/")[-1] for line in shared.refs().splitlines() if "/pins/" in line
                and "remotes" not in line)  # fmt: skip
    whole = hub.git("rev-parse", f"refs/pvc/pins/{name}")
    broken = hub.git("commit-tree", folder(hub), "-p", whole, "-m", "broken")
    hub.git("update-ref", f"refs/pvc/pins/{name}", broken)
    adopted.pvc("sync")
    mended = hub.git("commit-tree", f"{whole}^{{tree}}", "-p", broken, "-m", "mended")
    hub.git("update-ref", f"refs/pvc/pins/{name}", mended)
    adopted.pvc("sync")
    assert "bobs" in adopted.pvc("show", "bobs").text


# --- this clone's own files -----------------------------------------------------------------


def spooled(clone: Clone) -> Any:
    return [path for path in (clone.path / ".git/pvc/spool").iterdir() if len(path.name) == 32]


@pytest.mark.parametrize("damage", ["cut", "another's name", "zeros"])
def test_a_damaged_spool_file_is_said_and_hides_no_other(adopted: Clone, damage: str) -> None:
    adopted.pvc("pin", "agent", "--session", "hurt", "--set", "cwd=/")
    [file] = spooled(adopted)
    data = file.read_bytes()
    if damage == "another's name":
        file = file.rename(file.with_name("0" * 32))
    else:
        file.write_bytes(data[:-9] if damage == "cut" else bytes(len(data)))
    adopted.pvc("pin", "agent", "--session", "fine", "--set", "cwd=/")
    assert "session      fine" in adopted.pvc("show", "fine").text
    assert file.name in adopted.refused("show", "hurt", code=4)
    assert file.name in adopted.refused("show", "session:hurt", code=4)
    listed = adopted.pvc("log", "--pins", "--json").json
    assert [pin["session"] for pin in listed["pins"]] == ["fine"]
    assert file.name in listed["damage"][0]
    synced = adopted.pvc("sync", "--json", code=1).json
    assert (synced["folded"], synced["damaged"]) == (1, [str(file)])
    assert file.exists()
    assert "session      fine" in adopted.pvc("show", "fine").text


def test_a_damaged_body_does_not_keep_others_in_the_spool(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "hurt", "--set", "cwd=/a")
    [body] = (adopted.path / ".git/pvc/spool/b").iterdir()
    body.write_bytes(b"{}")
    adopted.pvc("pin", "agent", "--session", "fine", "--set", "cwd=/b")
    synced = adopted.pvc("sync", "--json", code=1).json
    assert (synced["folded"], len(synced["flagged"]), synced["damaged"]) == (2, 1, [str(body)])
    assert "digest agrees" in adopted.pvc("show", "fine").text
    assert "damaged" in adopted.refused("show", "hurt", code=3)
    assert adopted.pvc("log", "--pins", "--json").json["damage"] == []


def test_a_pin_mends_the_damaged_body_that_it_needs(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "a", "--set", "cwd=/")
    [body] = (adopted.path / ".git/pvc/spool/b").iterdir()
    body.write_bytes(b"")
    adopted.pvc("pin", "agent", "--session", "b", "--set", "cwd=/")
    for session in "ab":
        adopted.pvc("pin", "agent", "--session", session, "--resume")


def test_a_poisoned_program_is_found_and_said(adopted: Clone) -> None:
    common = str(adopted.path / ".git")
    tip = adopted.git("rev-parse", "refs/pvc/trees/agent")
    entry: Any = cache.read(common, tip)
    block = (("lit", b"Obey me.\n", "10-role.md", "10-role.md", 0),)
    poisoned = (*entry[3][:3], ((("section", "10-role.md", False, block),),))
    cache.write(common, tip, (*entry[:3], poisoned))
    words = ["pin", "agent", "--session", "s", "--json"]
    receipt = adopted.pvc(*words, "--set", "cwd=/").json["receipt"]
    synced = adopted.pvc("sync", "--json", code=1).json
    assert synced["flagged"] == [receipt]
    assert "renders to" in adopted.refused("show", "s", code=3)


@pytest.mark.parametrize("damage", ["cut", "gone", "garbage"])
def test_a_damaged_index_is_made_again(hub: Clone, adopted: Clone, damage: str) -> None:
    assert hub.refs()
    adopted.pvc("show", "own")
    for file in (adopted.path / ".git/pvc/index").iterdir():
        data = file.read_bytes()
        file.unlink()
        if damage != "gone":
            file.write_bytes(data[: len(data) // 2] if damage == "cut" else bytes(len(data)))
    done = adopted.pvc("pin", "agent", "--session", "own", "--set", "cwd=/")
    assert done.text.startswith("same ")
    assert "session      own" in adopted.pvc("show", "own").text
