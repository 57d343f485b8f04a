"""The README's first prompt, typed as it stands there: the commands give what it shows.

Ids of commits, receipts and days are others each time; all else must be the same to the letter.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from cli.conftest import Clone

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def steps() -> Iterator[tuple[str, str]]:
    """Give the commands of the section, each with what the page shows below it."""
    section = README.read_text().split("## Your first prompt\n")[1].split("\n## ")[0]
    for kind, text in BLOCK.findall(section):
        if kind == "sh":
            yield text, ""
            continue
        for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, shown = step.partition("\n")
            yield command, shown


def masked(text: str) -> list[str]:
    """Put out of sight what is another each time."""
    text = re.sub(r"receipt b3:[0-9a-f]{64}", "receipt", text)
    text = re.sub(r"\b[0-9a-f]{12}\b", "commit", text)
    return re.sub(r"\b\d{4}-\d\d-\d\d\b", "day", text).splitlines()


def test_the_first_prompt_goes_as_the_readme_says(ada: Clone) -> None:
    ada.git("config", "user.name", "Ada Osei")
    ada.git("config", "user.email", "ada@example.org")
    path = f"PATH={Path(sys.executable).parent}:{ada.environment['PATH']}"
    people = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    unset = [f"-uGIT_{name}" for name in people]
    words = ["env", *unset, path, "bash", "-c"]
    told = list(steps())
    assert len(told) > 10
    for command, shown in told:
        done = ada.run([*words, command])
        assert masked(done.text + done.err) == masked(shown), command
