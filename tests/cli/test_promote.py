"""A channel's name in every command, and the wording of its moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cli.conftest import Clone

SET = ("--set", "cwd=/srv")
ROLE = "# Role\n\nYou mend ships.\n"


def test_a_channel_stands_for_its_version_in_every_command(adopted: Clone) -> None:
    adopted.pvc("supersede", "agent", "--rm", "20-rules.md", "-m", "No rules")
    said = adopted.pvc("promote", "agent@1", "production", "-m", "It held").text
    move = adopted.git("rev-parse", "refs/pvc/channels/agent/production")
    assert said == f"promoted agent@production: agent@1 {move[:12]}\n"
    name = "agent@production"
    assert b"Never force a push." in adopted.pvc("render", name, *SET).out
    pinned = adopted.pvc("pin", name, "--session", "s", *SET, "--json").json
    assert pinned["version"] == "agent@1"
    assert adopted.pvc("show", name, "--json").json["version"]["version"] == 1
    assert adopted.pvc("blame", name, *SET, "--json").json["subject"]["version"] == 1
    assert "No rules" not in adopted.pvc("log", name).text
    assert "20-rules.md" in adopted.pvc("diff", name, "agent", *SET, code=1).text
    impact = adopted.pvc("impact", name, "--json", *SET).json
    assert (impact["base"], impact["lost"]["bytes"]) == ("agent@1", 0)


def test_moves_are_worded_for_people_and_programs(adopted: Clone) -> None:
    words = ("promote", "agent", "production", "-m", "Ready")
    assert "Would move agent@production: agent@1" in adopted.pvc(*words, "--dry-run").text
    made = adopted.pvc(*words, "--json").json
    assert (made["schema"], made["status"], made["version"]) == ("pvc.promote/1", "promoted", 1)
    assert (made["previous"], made["move"]["reason"]) == (None, "Ready")
    assert adopted.pvc(*words).text == "same agent@production is agent@1 already\n"
    adopted.write("agent/10-role.md", ROLE)
    adopted.commit()
    adopted.pvc("supersede", "agent", "-m", "Ships")
    assert "promoted agent@production: agent@1 → agent@2 " in adopted.pvc(*words).text
    said = adopted.refused("promote", "agent@live", "production", "-m", "x", code=4)
    assert "did you mean" in said or "known: production" in said
