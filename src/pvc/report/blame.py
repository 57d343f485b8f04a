"""A blame as one HTML page: the text, coloured by who wrote it, and what each colour means.

Rule 1: everything that comes from outside is escaped, and a policy in the page forbids scripts,
frames and the network, whatever a prompt holds.
Rule 2: nothing is loaded: one file, readable without a network and without scripts.
Rule 3: the same result gives the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from pvc.launch.words import day
from pvc.model.span import FromBinding, FromSource, FromTool, Glue
from pvc.ops.file_blame import FileBlamed, FileRun, subject

if TYPE_CHECKING:
    from pvc.ops.blame import Blamed, BlameRun

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #8884;padding:1rem}
table{border-collapse:collapse}td,th{text-align:left;padding:.15rem .8rem .15rem 0}
code{font-size:.9em}td.key{width:2rem}:root{color-scheme:light dark}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class _Owner:
    """Who a colour stands for."""

    key: str
    what: str
    who: str
    when: str
    why: str


def page(result: Blamed | FileBlamed) -> str:
    """Write the page."""
    if isinstance(result, FileBlamed):
        title, data = result.path, result.data
        owned = [(run.start, run.end, _of_file(run)) for run in result.runs]
    else:
        title, data = " ".join(map(str, result.subject.values())), result.rendered.data
        owned = [(run.start, run.end, _of_prompt(run)) for run in result.runs]
    owners = {owner.key: owner for _, _, owner in owned}
    number = {key: at for at, key in enumerate(owners)}
    text = "".join(
        f'<span class="o{number[owner.key]}" title="{_title(owner)}">'
        f"{_text(data[start:end])}</span>"
        for start, end, owner in owned
    )
    rows = "".join(
        f'<tr><td class="key o{at}"></td><td><code>{_text(o.what)}</code></td>'
        f"<td>{_text(o.who)}</td><td>{o.when}</td><td>{_text(o.why)}</td></tr>"
        for at, o in enumerate(owners.values())
    )
    colours = "".join(
        f".o{at}{{background:hsl({at * 137 % 360} 70% 50% / .28)}}" for at in range(len(owners))
    )
    head = "<tr><th></th><th>from</th><th>by</th><th>on</th><th>because</th></tr>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>pvc blame {_text(title)}</title><style>{_STYLE}{colours}</style></head>"
        f"<body><h1>{_text(title)}</h1><pre>{text}</pre><table>{head}{rows}</table></body></html>\n"
    )


def _text(value: bytes | str) -> str:
    """Escape; bytes that are no UTF-8 and control characters become marks."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    text = text.encode("utf-8", "replace").decode()
    safe = "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in text)
    return escape(safe)


def _title(owner: _Owner) -> str:
    return _text(
        " · ".join(part for part in (owner.what, owner.who, owner.when, owner.why) if part)
    )


def _of_file(run: FileRun) -> _Owner:
    commit = run.commit
    when = day(commit.time.seconds) if run.is_committed else ""
    return _Owner(commit.id, commit.id[:12], commit.author.name, when, subject(commit))


def _of_prompt(run: BlameRun) -> _Owner:
    match run.origin:
        case FromSource() if run.version:
            commit = run.source.commit if run.source else run.version.id
            what = f"{run.label} {commit[:12]}"
            who = (run.author or "").partition(" <")[0]
            return _Owner(what, what, who, day(run.time), run.version.subject)
        case FromBinding(name=name, pointer=pointer):
            return _Owner(
                f"value {pointer}", f"value {name} ({pointer})", "", "", "given at launch"
            )
        case FromTool(name=name):
            return _Owner(f"tool {name}", f"tool {name}", "", "", "under no version")
        case Glue(rule):
            return _Owner(f"glue {rule}", f"glue {rule}", "", "", "the rendering rule")
        case _:
            return _Owner("unversioned", "unversioned", "", "", "under no version")
