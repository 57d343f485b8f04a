"""`pvc impact` as people call it."""

import pytest

from cli.conftest import Clone


def test_an_impact_is_text_json_or_markdown(adopted: Clone) -> None:
    adopted.pvc("pin", "agent", "--session", "s1", "--set", "cwd=/srv")
    adopted.write("agent/10-role.md", "# Role\n\nYou mend ships.\n")
    assert adopted.pvc("impact", "agent").text.startswith("agent@1 to head: no byte of the prompt")
    text = adopted.pvc("impact", "agent", "--worktree").text
    assert "1 share a prefix that would be lost" in text
    found = adopted.pvc("impact", "agent", "--worktree", "--list", "--json").json
    assert found["schema"] == "pvc.impact/1"
    assert found["sessions"]["prefixes"][0]["list"] == ["s1"]
    markdown = adopted.pvc("impact", "agent", "--worktree", "--format", "md").text
    assert markdown.startswith("### Prompt impact: `agent`\n")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("impact", "nobody"), 4, "no tree or pack `nobody`"),
        (("impact", "agent@9"), 4, "has no version 9"),
        (("impact", "agent", "--since", "soon"), 2, "`soon` is not a date"),
        (("impact", "agent", "--what-if-order", "x"), 4, "no section `x`"),
        (("impact", "agent", "--set", "nonsense"), 2, "`--set` takes"),
    ],
)
def test_bad_words_are_one_line(
    adopted: Clone, words: tuple[str, ...], code: int, message: str
) -> None:
    assert message in adopted.refused(*words, code=code)
