"""Launch a session on Anthropic's SDK: pin its prompt, then send what was pinned.

    pip install git-pvc anthropic
    python anthropic_launch.py SESSION "What sails tomorrow?"

Runs in a clone with a tree `desk`; `values.json` and `tools.json` are what this launch gives.
"""

import json
import sys
from pathlib import Path

import anthropic
import pvc

MODEL = "claude-sonnet-4-5"


def main(session: str, question: str) -> None:
    """Pin, send, print the answer."""
    repo = pvc.open(".")
    values = json.loads(Path("values.json").read_bytes())
    tools = json.loads(Path("tools.json").read_bytes())
    options = pvc.PinOptions(provider="anthropic.messages", model=MODEL, tools=tools)
    with repo.pin("desk", session, values, options) as pinned:
        # Tools, system blocks and cache markers. Every turn of the session sends these bytes.
        head = repo.emit(session=pinned.session)
        turn = {"max_tokens": 1024, "messages": [{"role": "user", "content": question}]}
        answer = anthropic.Anthropic().messages.create(**(head | turn))
    print("".join(block.text for block in answer.content if block.type == "text"))


if __name__ == "__main__":
    main(*sys.argv[1:])
