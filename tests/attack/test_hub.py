"""A hub that loses, rewrites or forges refs: said by name, and nothing of ours is lost."""

import pytest

from cli.conftest import Clone

MESSAGE = "Forged\n\nPvc-Tree: agent\nPvc-Version: {number}\nPvc-Format: 1\n"


def forge(hub: Clone, number: int, tree: str = "refs/pvc/trees/agent^{tree}") -> str:
    words = ["commit-tree", hub.git("rev-parse", tree), "-p", "refs/pvc/trees/agent"]
    oid = hub.git(*words, "-m", MESSAGE.format(number=number))
    hub.git("update-ref", "refs/pvc/trees/agent", oid)
    return oid


def local(clone: Clone) -> set[str]:
    return {line for line in clone.refs().splitlines() if "/remotes/" not in line}


def test_a_hub_that_lost_its_refs_gets_them_back(hub: Clone, adopted: Clone) -> None:
    before = hub.refs()
    for line in before.splitlines():
        hub.git("update-ref", "-d", line.split("\t")[1])
    assert "pushed trees/agent" in adopted.pvc("sync").text
    assert hub.refs() == before
    assert "nothing to exchange" in adopted.pvc("sync").text


@pytest.mark.parametrize("number", [1, 3, 5, 999_999_999])
def test_a_chain_with_a_hole_is_not_taken_in(
    hub: Clone, adopted: Clone, shared: Clone, number: int
) -> None:
    forge(hub, number)
    for clone in (adopted, shared):
        before = local(clone)
        done = clone.pvc("sync", code=1)
        assert "refused refs/pvc/trees/agent" in done.text
        assert local(clone) == before
        assert "Role" in clone.pvc("render", "agent@1", "--set", "cwd=/").text


def test_a_hole_behind_the_tip_is_found_too(hub: Clone, adopted: Clone) -> None:
    forge(hub, 5)
    forge(hub, 6)
    before = local(adopted)
    assert "agent@5 follows agent@1" in adopted.pvc("sync", code=1).text
    assert local(adopted) == before


def test_folders_without_end_are_refused_when_they_are_read(hub: Clone, adopted: Clone) -> None:
    hub.write("object", "x")
    tree = f"100644 blob {hub.git('hash-object', '-w', 'object')}\tx.md"
    for _ in range(1200):
        hub.write("rows", tree + "\n")
        made = hub.run(["bash", "-c", "git mktree < rows"]).text.strip()
        tree = f"040000 tree {made}\td"
    forge(hub, 2, made)
    assert "lie deeper than 256" in adopted.pvc("sync", code=1).text
    assert "agent@1" in adopted.pvc("show", "agent").text
    done = adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/")
    assert "agent@1" in done.text


def test_a_rewritten_tree_is_said_and_ours_stays(hub: Clone, adopted: Clone) -> None:
    tree = hub.git("rev-parse", "refs/pvc/trees/agent^{tree}")
    oid = hub.git("commit-tree", tree, "-m", MESSAGE.format(number=1))
    hub.git("update-ref", "refs/pvc/trees/agent", oid)
    before = local(adopted)
    assert "rewritten" in adopted.pvc("sync", code=1).text
    assert local(adopted) == before
    assert hub.git("rev-parse", "refs/pvc/trees/agent") == oid


def test_a_time_beyond_all_calendars_is_shown(adopted: Clone) -> None:
    words = ["supersede", "agent", "-m", "Later"]
    adopted.write("agent/10-role.md", "Later\n")
    adopted.commit()
    when = "@99999999999 +9900"
    adopted.pvc(*words, GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when)
    for listed in (["log", "agent"], ["show", "agent"], ["blame", "agent", "--set", "cwd=/"]):
        assert adopted.pvc(*listed).code == 0
