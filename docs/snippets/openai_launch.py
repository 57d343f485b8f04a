"""Launch a session on OpenAI's SDK, by the Responses API: pin its prompt, then send it.

    pip install git-pvc openai
    python openai_launch.py SESSION "What sails tomorrow?"

Runs in a clone with a tree `desk`; `values.json` and `tools.json` are what this launch gives. For
the Chat API say `openai.chat`, append to the `messages` of the head, and create a completion.
"""

import json
import sys
from pathlib import Path

import openai
import pvc

MODEL = "gpt-5"


def main(session: str, question: str) -> None:
    """Pin, send, print the answer."""
    repo = pvc.open(".")
    values = json.loads(Path("values.json").read_bytes())
    tools = json.loads(Path("tools.json").read_bytes())
    options = pvc.PinOptions(provider="openai.responses", model=MODEL, tools=tools)
    with repo.pin("desk", session, values, options) as pinned:
        # Tools and instructions. Every turn of the session sends these bytes.
        head = repo.emit(session=pinned.session)
        answer = openai.OpenAI().responses.create(**(head | {"input": question}))
    print(answer.output_text)


if __name__ == "__main__":
    main(*sys.argv[1:])
