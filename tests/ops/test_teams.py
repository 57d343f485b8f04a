"""Three clones of one hub that adopt and promote at once: both sides are told, nothing is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pvc.cli.show_log import TEXTS
from pvc.errors import NotFoundError, UsageError
from pvc.ops.init import write_builtin_packs
from pvc.ops.promote import run as promote
from pvc.ops.revise import Edits, NewFile
from pvc.ops.supersede import run as supersede
from pvc.ops.sync import run as sync
from pvc.ops.verify import VerifyOptions
from pvc.ops.verify import run as verify
from pvc.ops.versions_log import versions_log
from pvc.store import channels
from pvc.store.versions import at_commit, chain, find
from sessions import Sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pvc.store.channels import ChannelMove
    from pvc.store.repo import Repository
    from pvc.store.sync_result import SyncResult
    from pvc.store.versions import VersionInfo
    from workspace import Workspace

AGENT = "refs/pvc/trees/agent"
PRODUCTION = "refs/pvc/channels/agent/production"


class Team:
    """Ann, Bob and Cem, who started from the same version, and their hub."""

    def __init__(self, make_workspace: Callable[..., Workspace]) -> None:
        self.hub = make_workspace("hub.git", "--bare")
        self.workspaces = {}
        for name in ("ann", "bob", "cem"):
            clone = self.workspaces[name] = make_workspace(name)
            clone.git("remote", "add", "origin", f"file://{self.hub.path}")
            clone.git("config", "user.name", name.title())
        self.ann, self.bob, self.cem = (each.open() for each in self.workspaces.values())
        Sessions(self.workspaces["ann"]).adopt()
        for repo in (self.ann, self.bob, self.cem):
            sync(repo, "origin")

    def settle(self) -> None:
        """Sync until nobody has anything new, and see that nobody is refused anything."""
        for _ in range(2):
            for repo in (self.ann, self.bob, self.cem):
                result = sync(repo, "origin")
                assert (result.diverged, result.refused) == ((), ())

    def agree(self, ref: str) -> bool:
        tips = {repo.ref(ref) for repo in (self.ann, self.bob, self.cem)}
        return tips == {self.hub.oid(ref)}


@pytest.fixture
def team(make_workspace: Callable[..., Workspace]) -> Iterator[Team]:
    made = Team(make_workspace)
    yield made
    for repo in (made.ann, made.bob, made.cem):
        repo.close()


def put(text: str, path: str = "a.md") -> Edits:
    return Edits(sets=(NewFile(path, text.encode()),))


def adopt(repo: Repository, text: str, path: str = "a.md") -> VersionInfo:
    version = supersede(repo, "agent", f"Adopt {text}", edits=put(f"{text}\n", path)).version
    assert version is not None
    return version


def resolve(repo: Repository, reason: str, text: str) -> VersionInfo:
    made = supersede(repo, "agent", reason, edits=put(text), resolve="origin").version
    assert made is not None
    return made


def move(repo: Repository, word: str, reason: str, *, resolve: str | None = None) -> ChannelMove:
    made = promote(repo, word, "production", reason, resolve=resolve).move
    assert made is not None
    return made


def lines(result: SyncResult) -> str:
    return "\n".join(result.to_lines())


# --- versions ---------------------------------------------------------------------------------


def test_three_clones_that_superseded_one_version_come_together(team: Team) -> None:
    anns, bobs, cems = adopt(team.ann, "Ann's"), adopt(team.bob, "Bob's"), adopt(team.cem, "Cem's")
    assert {v.label for v in (anns, bobs, cems)} == {"agent@2"}
    sync(team.ann, "origin")
    said = lines(sync(team.bob, "origin"))
    assert f"  here   agent@2 {bobs.id.short} Adopt Bob's" in said
    assert f"  there  agent@2 {anns.id.short} Adopt Ann's" in said
    assert "`pvc supersede agent --resolve origin -m REASON`" in said
    both = resolve(team.bob, "Ann's and Bob's", "Both\n")
    assert (both.number, both.parents) == (3, (anns.id, bobs.id))
    sync(team.bob, "origin")
    assert "Adopt Cem's" in lines(sync(team.cem, "origin"))
    three = resolve(team.cem, "All three", "All\n")
    assert (three.number, three.parents) == (4, (both.id, cems.id))
    team.settle()
    assert team.agree(AGENT)
    for repo in (team.ann, team.bob, team.cem):
        walked = [version.id for version in chain(repo, "trees", "agent")]
        assert walked[:3] == [three.id, both.id, anns.id]
        for lost in (bobs, cems):  # whoever pinned it finds it
            assert at_commit(repo, lost.id).label == "agent@2"


def test_sessions_pinned_to_the_side_that_lost_its_number_stay(team: Team) -> None:
    adopt(team.ann, "Ann's")
    mine = adopt(team.bob, "Bob's")
    bob = Sessions(team.workspaces["bob"])
    assert bob.pin("s").version == "agent@2"
    sync(team.ann, "origin")
    sync(team.bob, "origin")
    resolve(team.bob, "Both", "Both\n")
    again = bob.pin("s")
    assert (again.status, again.commit) == ("same", mine.id)
    assert again.data is not None
    assert again.data.startswith(b"Bob's\n")
    asked = bob.pin("s", tree="agent@2")
    assert f"stays at the agent@2 with the commit {mine.id.short}" in asked.notes[0]


def test_a_longer_side_counts_on_from_the_shared_chain(team: Team) -> None:
    """Two versions lose their numbers; they stay, and nothing that names a commit is lost."""
    adopt(team.ann, "Ann's")
    mine = [adopt(team.bob, f"Bob's {number}") for number in (2, 3, 4)]
    sync(team.ann, "origin")
    sync(team.bob, "origin")
    assert resolve(team.bob, "Both", "Both\n").number == 3
    team.settle()
    assert team.agree(AGENT)
    assert [at_commit(team.cem, version.id).number for version in mine] == [2, 3, 4]


def test_who_was_quicker_twice_is_resolved_twice(team: Team) -> None:
    adopt(team.ann, "Ann's")
    adopt(team.bob, "Bob's")
    sync(team.ann, "origin")
    sync(team.bob, "origin")
    adopt(team.ann, "Ann's again")
    sync(team.ann, "origin")
    resolve(team.bob, "Too late", "Both\n")
    assert sync(team.bob, "origin").diverged
    assert resolve(team.bob, "In time", "Both\n").number == 4
    team.settle()
    assert team.agree(AGENT)


def test_a_resolve_may_take_one_side_as_it_is(team: Team) -> None:
    theirs = adopt(team.ann, "Ann's")
    adopt(team.bob, "Bob's")
    sync(team.ann, "origin")
    sync(team.bob, "origin")
    result = supersede(
        team.bob, "agent", "Hers is right", edits=Edits(revert_to=2), resolve="origin"
    )
    assert (result.status, result.changed) == ("adopted", ())
    assert result.version is not None
    assert (result.version.tree, result.version.number) == (theirs.tree, 3)
    team.settle()
    assert team.agree(AGENT)


def test_only_what_diverged_is_resolved(team: Team) -> None:
    with pytest.raises(NotFoundError, match="seen on `elsewhere`"):
        supersede(team.bob, "agent", "x", edits=put("x\n"), resolve="elsewhere")
    adopt(team.ann, "Ann's")
    with pytest.raises(UsageError, match="`agent` is ahead of `origin`"):
        supersede(team.ann, "agent", "x", edits=put("x\n"), resolve="origin")
    sync(team.ann, "origin")
    team.bob.git.output("fetch", "-q", "origin", f"{AGENT}:refs/pvc/remotes/origin/trees/agent")
    with pytest.raises(UsageError, match="`agent` is behind `origin`"):
        supersede(team.bob, "agent", "x", edits=put("x\n"), resolve="origin")
    assert find(team.bob, "trees", "agent").number == 1


# --- channels ---------------------------------------------------------------------------------


def test_a_channel_reaches_every_clone_with_its_program(team: Team) -> None:
    from pvc.launch import cache

    promote(team.ann, "agent@1", "production", "Ready")
    team.settle()
    tip = team.bob.ref(PRODUCTION)
    assert team.agree(PRODUCTION)
    assert tip is not None
    assert cache.read(str(team.bob.common_dir), tip) is not None
    bob = Sessions(team.workspaces["bob"])
    assert bob.pin("s", tree="agent@production").version == "agent@1"


def test_three_clones_that_moved_one_channel_come_together(team: Team) -> None:
    for text in ("Two", "Three"):
        adopt(team.ann, text)
    team.settle()
    anns = move(team.ann, "agent@3", "Newest")
    bobs = move(team.bob, "agent@2", "Careful")
    cems = move(team.cem, "agent@1", "Very careful")
    sync(team.ann, "origin")
    said = lines(sync(team.bob, "origin"))
    assert "channels/agent/production diverged:" in said
    assert f"  here   agent@2 {bobs.id.short} Careful" in said
    assert f"  there  agent@3 {anns.id.short} Newest" in said
    assert "`pvc promote agent@V production --resolve origin -m REASON`" in said
    both = move(team.bob, "agent@3", "Ann is right", resolve="origin")
    assert both.before == (anns.id, bobs.id)
    sync(team.bob, "origin")
    sync(team.cem, "origin")
    move(team.cem, "agent@1", "No: it deletes", resolve="origin")
    team.settle()
    assert team.agree(PRODUCTION)
    said = "\n".join(TEXTS["VersionsLog"](versions_log(team.ann, "agent", 50)))
    assert "      resolves agent@2 there  Bob  Careful" in said
    assert "      resolves agent@1 there  Cem  Very careful" in said
    for repo in (team.ann, team.bob, team.cem):
        reasons = [each.subject for each in channels.chain(repo, "agent", "production")]
        assert reasons == ["No: it deletes", "Ann is right", "Newest"]
        assert channels.at_move(repo, cems.id, "agent", "production").subject == "Very careful"


def test_only_a_channel_that_diverged_is_resolved(team: Team) -> None:
    with pytest.raises(NotFoundError, match="no `agent@production` was seen"):
        promote(team.bob, "agent", "production", "x", resolve="origin")
    promote(team.ann, "agent", "production", "Ready")
    team.settle()
    with pytest.raises(UsageError, match="`agent@production` is behind `origin`"):
        promote(team.bob, "agent", "production", "x", resolve="origin")


def test_a_channel_waits_for_a_version_that_is_in_no_shared_chain(team: Team) -> None:
    adopt(team.ann, "Ann's")
    adopt(team.bob, "Bob's")
    promote(team.bob, "agent", "production", "Ready")
    sync(team.ann, "origin")
    result = sync(team.bob, "origin")
    assert [(r.ref, r.hint) for r in result.refused] == [
        (PRODUCTION, "bring `agent` together first")
    ]
    assert team.hub.git("for-each-ref", PRODUCTION) == ""
    resolve(team.bob, "Both", "Both\n")
    team.settle()
    assert team.agree(PRODUCTION)


def test_a_channel_that_diverged_with_its_tree_is_told_once(team: Team) -> None:
    for repo, text in ((team.ann, "Ann's"), (team.bob, "Bob's")):
        adopt(repo, text)
        promote(repo, "agent", "production", f"{text} is out")
    sync(team.ann, "origin")
    result = sync(team.bob, "origin")
    assert [split.ref for split in result.diverged] == [PRODUCTION, AGENT]
    assert result.refused == ()


def test_a_channel_on_an_older_version_does_not_wait(team: Team) -> None:
    adopt(team.ann, "Ann's")
    adopt(team.bob, "Bob's")
    promote(team.bob, "agent@1", "production", "Ready")
    sync(team.ann, "origin")
    assert sync(team.bob, "origin").refused == ()
    assert team.hub.oid(PRODUCTION) == team.bob.ref(PRODUCTION)


def test_a_channel_with_a_forged_move_below_its_tip_is_not_taken(team: Team) -> None:
    version = find(team.ann, "trees", "agent")
    forged = team.ann.write_commit(version.tree, [version.id], "No record")
    message = "Ready\n\nPvc-Channel: agent/production\n"
    tip = team.ann.write_commit(version.tree, [forged, version.id], message)
    team.ann.move_ref("refs/heads/forged", None, tip)
    team.ann.git.output("push", "-q", "origin", f"forged:{PRODUCTION}")
    result = sync(team.bob, "origin")
    assert [r.ref for r in result.refused] == [PRODUCTION]
    assert "no record of a move of `agent@production`" in result.refused[0].reason
    assert team.bob.ref(PRODUCTION) is None


def test_built_in_packs_are_one_line_of_a_sync(team: Team) -> None:
    count = len(write_builtin_packs(team.ann))
    said = lines(sync(team.ann, "origin")).split("\n")
    assert f"pushed {count} built-in packs" in said
    assert not any("packs/builtin" in line for line in said)
    assert f"forwarded {count} built-in packs" in lines(sync(team.bob, "origin")).split("\n")


def test_what_teams_make_verifies(team: Team) -> None:
    """Edits, a revert, a pack's release, both kinds of resolve: in each clone, nothing is wrong."""
    adopt(team.ann, "Ann's")
    adopt(team.bob, "Bob's")
    move(team.ann, "agent@2", "Bold")
    move(team.bob, "agent@1", "Careful")
    sync(team.ann, "origin")
    sync(team.bob, "origin")
    resolve(team.bob, "Both", "Both\n")
    move(team.bob, "agent@3", "Both it is", resolve="origin")
    supersede(team.bob, "agent", "Back", edits=Edits(revert_to=1))
    assert Sessions(team.workspaces["bob"]).pin("s", tree="agent@production").version == "agent@3"
    team.settle()
    for repo in (team.ann, team.bob, team.cem):
        verified = verify(repo, VerifyOptions())
        assert verified.found == ()
        assert verified.counts["moves"] == 3
