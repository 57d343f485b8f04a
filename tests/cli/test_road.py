"""The whole road with the real command: adopt, pin, supersede, blame, miss, sync."""

import json
from collections.abc import Callable
from pathlib import Path

from blake3 import blake3

from cli.conftest import LOOM_ENVIRONMENT, Clone


def test_render_gives_the_exact_bytes_and_their_digest_is_the_pins(adopted: Clone) -> None:
    data = adopted.pvc("render", "agent", "--set", "cwd=/srv").out
    assert data == (
        b"# Role\n\nYou mend harbour software.\n\n# Rules\n\nWork in /srv.\nNever force a push.\n"
    )
    pinned = adopted.pvc("pin", "agent", "--session", "s1", "--set", "cwd=/srv", "--json").json
    assert pinned["prompt_digest"] == "b3:" + blake3(data).hexdigest()
    assert adopted.pvc("show", "s1", "--bytes").out == data


def test_the_spans_of_render_tile_its_bytes(adopted: Clone) -> None:
    data = adopted.pvc("render", "agent", "--set", "cwd=/srv", "--map", "map.json").out
    spans = json.loads((adopted.path / "map.json").read_text())["spans"]
    assert [0, *(s["end"] for s in spans)] == [*(s["start"] for s in spans), len(data)]
    kinds = [s["origin"]["kind"] for s in spans]
    assert kinds == ["source", "glue", "source", "binding", "source"]


def test_the_map_goes_to_stdout_instead_of_the_bytes(adopted: Clone) -> None:
    words = ("render", "agent", "--set", "cwd=/srv")
    assert adopted.pvc(*words, "--map", "-").json["bytes"] == len(adopted.pvc(*words).out)
    assert adopted.pvc(*words, "--map", "-", "--out", "p.md").json["schema"] == "pvc.map/1"
    assert (adopted.path / "p.md").read_bytes() == adopted.pvc(*words, "--out", "-").out


def test_an_identical_folder_makes_no_version(adopted: Clone) -> None:
    before = adopted.refs()
    assert "holds these very bytes" in adopted.pvc("supersede", "agent", "-m", "Again").text
    assert adopted.refs() == before


def test_a_dry_run_moves_nothing(plain: Clone) -> None:
    assert "Would adopt agent@1" in plain.pvc("supersede", "agent", "-m", "x", "--dry-run").text
    assert plain.refs() == ""


def test_head_index_and_worktree_are_three_states(adopted: Clone) -> None:
    adopted.write("agent/10-role.md", "staged\n")
    adopted.git("add", "-A")
    adopted.write("agent/10-role.md", "not staged\n")
    assert "not committed: `10-role.md`" in adopted.refused("supersede", "agent", "-m", "x", code=1)
    adopted.pvc("supersede", "agent", "--index", "-m", "staged")
    assert adopted.pvc("render", "agent@2", "--set", "cwd=/").out.startswith(b"staged\n\n")
    adopted.pvc("supersede", "agent", "--worktree", "-m", "as it stands")
    assert adopted.pvc("render", "agent@3", "--set", "cwd=/").out.startswith(b"not staged\n\n")


def test_versions_are_ordinary_commits(adopted: Clone) -> None:
    adopted.write("agent/10-role.md", "# Role\n\nYou mend ships.\n")
    source = adopted.commit("Ships")
    adopted.pvc("supersede", "agent", "-m", "Ships now\n\nThe harbour was sold.")
    patch = adopted.git("log", "-p", "refs/pvc/trees/agent")
    assert "+You mend ships." in patch
    assert f"Pvc-Source: {source}" in patch
    assert "Pvc-Version: 2" in patch
    assert adopted.git("fsck", "--strict") == ""
    log = adopted.pvc("log", "agent", "--json").json["versions"]
    assert [version["version"] for version in log] == [2, 1]
    assert log[0]["reason"] == "Ships now\n\nThe harbour was sold."


def test_a_known_session_keeps_its_version(adopted: Clone) -> None:
    first = adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/srv", "--json").json
    adopted.write("agent/10-role.md", "# Role\n\nYou mend ships.\n")
    adopted.commit()
    adopted.pvc("supersede", "agent", "-m", "Ships")
    again = adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/srv", "--json")
    assert (again.json["status"], again.json["version"]) == ("same", first["version"])
    assert "agent@2 was adopted since" in again.err
    resumed = adopted.pvc("pin", "agent", "--session", "s", "--resume", "--out", "-")
    assert b"You mend harbour software." in resumed.out


def test_other_values_are_refused_until_a_reason_is_given(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/srv")
    refused = adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/opt", "--json", code=1)
    assert refused.json["status"] == "refused"
    assert refused.json["first_divergence"]["owner"].startswith("the value `/cwd`")
    words = ("pin", "agent", "--session", "s", "--set", "cwd=/sr")
    assert "from the value `/cwd` for `{cwd}`" in adopted.pvc(*words, code=1).err
    moved = adopted.pvc(
        "pin", "agent", "--session", "s", "--set", "cwd=/opt", "--repin", "moved house", "--json"
    )
    assert moved.json["status"] == "pinned"
    assert adopted.pvc("show", "session:s", "--json").json["pin"]["reason"] == "moved house"


def test_blame_names_the_commit_of_the_users_own_history(adopted: Clone) -> None:
    bob = Clone(adopted.path, "Bob Lindqvist")
    bob.write("agent/20-rules.md", "# Rules\n\nWork in {cwd}.\nAlways force a push.\n")
    wrote = bob.commit("Be bold")
    adopted.pvc("supersede", "agent", "-m", "Reviews took too long")
    adopted.pvc("pin", "agent", "--session", "s", "--set", "cwd=/srv")
    blame = adopted.pvc("blame", "s", "--json").json
    runs = blame["runs"]
    assert [0, *(r["end"] for r in runs)] == [*(r["start"] for r in runs), blame["bytes"]]
    data = adopted.pvc("show", "s", "--bytes").out
    bold = [r for r in runs if data[r["start"] : r["end"]] == b"Always"]
    assert len(bold) == 1
    assert bold[0]["source"]["commit"] == wrote
    assert bold[0]["author"] == "Bob Lindqvist <bob@example.org>"
    assert (bold[0]["version"], bold[0]["reason"]) == (2, "Reviews took too long")
    value = next(r for r in runs if r["origin"]["kind"] == "binding")
    assert value["origin"]["pointer"] == "/cwd"


def test_miss_names_byte_fragment_commit_and_reason(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "a", "--set", "cwd=/srv")
    adopted.write("agent/10-role.md", "# Role\n\nYou mend harbour ships.\n")
    wrote = adopted.commit("Ships")
    adopted.pvc("supersede", "agent", "-m", "We sold the software")
    adopted.pvc("pin", "agent", "--session", "b", "--set", "cwd=/srv")
    answer = adopted.pvc("miss", "a", "b", "--json", code=1).json
    assert answer["verdict"] == "miss"
    assert answer["first_divergence"]["leaf_byte_offset"] == len("# Role\n\nYou mend harbour s")
    assert answer["owner"]["source"]["commit"] == wrote
    assert answer["owner"]["reason"] == "We sold the software"
    assert answer["owner"]["origin"]["path"] == "10-role.md"
    assert answer["lost"]["bytes"] > 0


def test_miss_names_who_took_text_out(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "a", "--set", "cwd=/srv")
    adopted.write("agent/20-rules.md", "# Rules\n\nWork in {cwd}.\n")
    wrote = adopted.commit("Fewer rules")
    adopted.pvc("supersede", "agent", "-m", "Hooks hold that rule now")
    adopted.pvc("pin", "agent", "--session", "b", "--set", "cwd=/srv")
    owner = adopted.pvc("miss", "a", "b", "--json", code=1).json["owner"]
    assert (owner["change"], owner["source"]["commit"]) == ("removed", wrote)


def test_miss_of_a_value_names_the_value(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "a", "--set", "cwd=/srv/1")
    adopted.pvc("pin", "agent", "--session", "b", "--set", "cwd=/srv/2")
    answer = adopted.pvc("miss", "a", "b", "--json", code=1).json
    assert answer["owner"]["origin"]["kind"] == "binding"
    assert "`cwd`" in answer["advice"]


def test_equal_sessions_do_not_miss(adopted: Clone) -> None:
    for session in ("a", "b"):
        adopted.pvc("pin", "agent", "--session", session, "--set", "cwd=/srv")
    assert adopted.pvc("miss", "a", "b", "--json").json["verdict"] == "hit"


def test_miss_reads_bodies_outside_of_any_repository(tmp_path: Path) -> None:
    case = Path(__file__).parent.parent / "cases/miss/clock-in-environment"
    nowhere = Clone(tmp_path)
    answer = nowhere.pvc(
        "miss",
        str(case / "a.json"),
        str(case / "b.json"),
        "--context",
        str(case / "context.json"),
        "--json",
        code=1,
    ).json
    expected = json.loads((case / "expected.json").read_text())
    for key in ("kind", "verdict", "first_divergence", "scope_bytes", "reusable_bytes"):
        assert answer[key] == expected[key]


def test_a_fresh_clone_can_pin_show_and_blame_after_sync(
    plain: Clone, make_clone: Callable[..., Clone], tmp_path: Path
) -> None:
    hub = tmp_path / "hub.git"
    plain.git("init", "-q", "--bare", "-b", "main", str(hub))
    plain.git("remote", "add", "origin", str(hub))
    (plain.path / "loomed").mkdir()
    plain.pvc("init", "loomed")
    plain.commit("A loom tree")
    plain.pvc("supersede", "agent", "-m", "First")
    plain.pvc("supersede", "loomed", "-m", "Second")
    plain.write("env.json", json.dumps(LOOM_ENVIRONMENT))
    plain.pvc("pin", "loomed", "--session", "s", "--env", "env.json")
    plain.git("push", "-q", "origin", "main")
    plain.pvc("sync", "origin")
    bob = make_clone("bob", "Bob Lindqvist", hub)
    bob.pvc("sync")
    assert bob.pvc("show", "session:s", "--json").json["pin"]["tree"] == "loomed"
    bob.pvc("pin", "agent", "--session", "t", "--set", "cwd=/x")
    assert bob.pvc("blame", "t", "--json").json["runs"]
    bob.pvc("sync")
    plain.pvc("sync", "origin")
    assert plain.pvc("show", "session:t", "--json").json["pin"]["session"] == "t"
    assert "pvc.pushBodies" in plain.pvc("show", "session:t").text
    bob.git("config", "pvc.pushBodies", "true")
    bob.pvc("sync")
    plain.pvc("sync", "origin")
    assert plain.pvc("show", "t", "--bytes").out == bob.pvc("show", "t", "--bytes").out
    assert bob.git("fsck", "--strict") == ""


def test_two_inits_make_one_history_of_the_built_in_pack(
    make_clone: Callable[..., Clone],
) -> None:
    tips = []
    for name, who in (("one", "Ada Osei"), ("two", "Bob Lindqvist")):
        clone = make_clone(name, who)
        (clone.path / "agent").mkdir()
        clone.pvc("init", "agent")
        tips.append(clone.git("rev-parse", "refs/pvc/packs/builtin-loom"))
    assert tips[0] == tips[1]
