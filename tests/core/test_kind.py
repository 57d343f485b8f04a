"""Every kind of the closed list, planted into bodies of each shape; controls stay `none`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kind_neighbours import rows
from pvc.core.change import Provenance
from pvc.core.divergence import common_bytes, of_byte
from pvc.core.kind import decide
from pvc.core.miss import Context, Miss, compare
from pvc.model.body import Kind, Verdict
from pvc.providers.base import read
from request_bodies import EDIT, GUIDE, INTRO, SHAPES, Parts, write

if TYPE_CHECKING:
    from collections.abc import Callable

    Plant = Callable[[Parts, Parts], object]

CHAT = "openai.chat"
TEXTS: dict[str, list[tuple[str, str]]] = {
    "clock": [
        ("Idle for 12 s", "Idle for 47 s"),
        ("The office has been open for 3 minutes.", "The office has been open for 14 minutes."),
        ("Minutes until the next tide job: 742", "Minutes until the next tide job: 728"),
        ("Time of day: morning", "Time of day: evening"),
        ("It is Tuesday.", "It is Wednesday."),
        ("Day 195 of the year", "Day 196 of the year"),
        ("Berths reset in 3h 12m", "Berths reset in 2h 58m"),
        ("Month: February", "Month: March"),
        ("Sailed 20260302T101409Z", "Sailed 20260302T101541Z"),
        ("Today is Monday, 2 March 2026.", "Today is Tuesday, 3 March 2026."),
        ("Now: 1772438467", "Now: 1772438512"),
        ("It is 10:14:09 at the pier.", "It is 10:15:41 at the pier."),
        ("<time>2026-03-02T10:14:09.120Z</time>", "<time>2026-03-02T10:15:41.004Z</time>"),
        ("Heute ist der 2. März 2026.", "Heute ist der 3. März 2026."),
        ("The year is 2025.", "The year is 2026."),
        ("Last tide reading 4 minutes ago.", "Last tide reading 9 minutes ago."),
        ("Week: 2026-W09", "Week: 2026-W10"),
    ],
    "locale": [
        (
            "Pier clock: 2 Mar 2026, 10:14 (Europe/Oslo)",
            "Pier clock: 2 Mar 2026, 18:14 (Asia/Tokyo)",
        ),
        ("Last tide: 3 juillet 2026", "Last tide: July 3, 2026"),
        ("Last tide: 3 juil. 2026", "Last tide: Jul 3, 2026"),
        ("Currency: NOK", "Currency: EUR"),
        ("Fare: 12,50 €", "Fare: €12.50"),
        ("Di. 14. Juli 2026", "Tue 14 July 2026"),
        ("Week starts on: Monday", "Week starts on: Sunday"),
        ("Fares: 12,34,567", "Fares: 1,234,567"),
        ("Pier clock: 9:41 PM", "Pier clock: 9:41 p. m."),
        ("Month: July 2026", "Month: juillet 2026"),
        ("Fares: 1 234 567", "Fares: 1.234.567"),
        ("Date: 03/02/2026", "Date: 02.03.2026"),
        ("Date: Monday, 2 March 2026", "Date: Montag, 2. März 2026"),
        ("Pier clock: 10:14 CET", "Pier clock: 09:14 UTC"),
        ("Pier clock: Mon 2 Mar 2026, 23:30 CET", "Pier clock: Tue 3 Mar 2026, 07:30 JST"),
        ("Pier clock: 10:14 PM", "Pier clock: 22:14"),
        ("Passengers: 12,480", "Passengers: 12.480"),
        ("Draught: 2.75 m", "Draught: 2,75 m"),
        ("Locale: en_GB.UTF-8", "Locale: nb_NO.UTF-8"),
        ("Time zone: Europe/Oslo", "Time zone: Asia/Tokyo"),
    ],
    "random_id": [
        ("Result: /tmp/quay.Qx7Vb2/out.json", "Result: /tmp/quay.p9Kd0s/out.json"),
        ("Name: amber-otter-4f21", "Name: amber-otter-9c03"),
        ("sandbox sbx_7hq2m9", "sandbox sbx_0k4w8p"),
        (
            "Session 5a1f3c2e-11d4-4b0a-9a5e-0c1d2e3f4a5b.",
            "Session 9d0c6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed.",
        ),
        ("Scratch: /tmp/quay-k2v9x1/notes", "Scratch: /tmp/quay-p0d7m3/notes"),
        ("Log: /srv/quay/runs/01HZX4T9Q2/log", "Log: /srv/quay/runs/01HZX7B1K8/log"),
        ("Bridge: http://127.0.0.1:51022/", "Bridge: http://127.0.0.1:49877/"),
        ("client=quay; tag=3be91;", "client=quay; tag=77c0a;"),
        ("nonce: Zk9QpLw2", "nonce: 8dKx1mPq"),
        ("<guard-4f9a1c>quiet</guard-4f9a1c>", "<guard-b07d42>quiet</guard-b07d42>"),
        ("pid: 48213", "pid: 50117"),
        ("PID 48213", "PID 50117"),
        ("sandbox: brave-otter-4f21", "sandbox: calm-heron-9c03"),
        ("/run/quay/build.3812/out", "/run/quay/build.9920/out"),
        (
            "<git>\nBranch: main\n</git>\nNotes stand in <note-8f31>.",
            "<git>\nBranch: main\n</git>\nNotes stand in <note-c20e>.",
        ),
    ],
    "workspace_state": [
        ("Files: 1,204 files", "Files: 1,207 files"),
        ("Terminal: 120x40", "Terminal: 80x24"),
        ("Open files: a.py, b.py", "Open files: a.py, c.py"),
        ("Kernel 6.5.0-21", "Kernel 6.8.0-31"),
        ("Uncommitted: yes", "Uncommitted: no"),
        ("You are in /srv/ferry/north.", "You are in /srv/ferry/south."),
        ("OS: Linux 6.8.0-31-generic", "OS: Linux 6.8.0-35-generic"),
        ("├── routes\n├── tides", "├── fares\n├── routes\n├── tides"),
        ("Working directory: /home/kai/ferry", "Working directory: /home/kai/ferry-2"),
        ("Folder: wt-03", "Folder: wt-04"),
        ("Branch: main", "Branch: winter-times"),
        (
            "Status:\n M routes/north.csv\nRecent commits:\n4c1d2ab routes: winter",
            "Status:\n M routes/north.csv\n?? notes.txt\nRecent commits:\n4c1d2ab routes: winter",
        ),
        ("Commit: 4c1d2ab", "Commit: 90ffe12"),
        ("-rw-r--r-- 1 kai kai 81 Mar 2 10:14 a", "-rw-r--r-- 1 kai kai 85 Mar 2 10:20 a"),
        (
            "<environment>\nShell: fish 3.7\n</environment>",
            "<environment>\nShell: bash 5.2\n</environment>",
        ),
    ],
    "user_identity": [
        ("Notices are sent as Ida Strand.", "Notices are sent as Ola Berg."),
        ("GitHub handle: @ida-s", "GitHub handle: @ola-b"),
        (
            "<user-profile>\nlives at the pier\n</user-profile>",
            "<user-profile>\nlives on the hill\n</user-profile>",
        ),
        ("Signed in as ida-s", "Signed in as ola-b"),
        ("Contact: ida@pier.example", "Contact: ola@pier.example"),
        ("User name: Ida Strand", "User name: Ola Berg"),
        ("account_id: a_91kd02", "account_id: a_33fx81"),
        ("You are helping Ida Strand today.", "You are helping Ola Berg today."),
        ("Plan: harbour", "Plan: fleet"),
        ("User: Ida Strand", ""),
        ("Customer 48213 (gold)", "Customer 50117 (silver)"),
        ("The user, Ida, reads fast.", "The user, Ola, reads fast."),
        ("", "The user's name is Ola Berg."),
        ("<user-profile>Ida, pilot</user-profile>", "<user-profile>Ola, clerk</user-profile>"),
    ],
    "prompt_text_edit": [
        ("Change at most 5 files.", "Change at most 9 files."),
        ("Wait for 30 s.", "Wait for 60 s."),
        ("The port is 8080.", "The port is 9090."),
        ("Use Python 3.11.", "Use Python 3.12."),
        ("Tag releases v1.", "Tag releases v2."),
        ("Sail on Friday.", "Sail on Monday."),
        ("Your task list is short.", "Your task list is long."),
        ("The old list ends in March 2027.", "The old list ends in June 2027."),
        ("Tools: use them rarely, and only in need.", "Tools: use them often, and only in need."),
        ("Mark each step: name, then state.", "Mark each step: state, name, then id."),
        ("", "The user is the one who decides."),
        ("## Commands\nRun them one by one.\nSay which one.\n- Stop when one fails.", ""),
        ("Today you may be brief.", "Today you must be brief."),
        ("Answer in two sentences.", "Answer in three sentences."),
        ("# Notes\n- The office opens late.", "# Notes\n- The office opens early."),
        ("Ask the user before a change.", "Ask the user first, then change."),
        ("Quay 2.1.4 rules apply.", "Quay 2.1.5 rules apply."),
        ("You are Quay, a clerk.", "You are Quay 2.1, a clerk."),
        ("You are Quay 2.1.4, a clerk.", "You are Quay 2.2.0, a clerk."),
        ("Use well-known tools first.", "Use well-tested tools first."),
        ("Files under `routes/` are data.", "Files under `tables/` are data."),
        (
            "<git>\nRecent commits:\n4c1d2ab routes\n</git>\nAsk first.",
            "<git>\nRecent commits:\n4c1d2ab routes\n</git>\nAsk last.",
        ),
        (
            "These skills are there:\n- tide: reads\n<memory>\n- brief\n</memory>",
            "These skills are there:\n- tide: reads\n<memory>\n- brief\n- polite\n</memory>",
        ),
    ],
    "catalog": [
        (
            "## Skills\n\n### tide\nReads.\n\n### dock\nDocks.",
            "## Skills\n\n### tide\nReads.\n\n### fare\nCounts.\n\n### dock\nDocks.",
        ),
        ('Available skills: ["tide","fare"]', 'Available skills: ["tide","fare","dock"]'),
        ("Skills:\n- tide: reads tides\n- fare: counts fares", "Skills:\n- fare: counts fares"),
        (
            "You can use these commands: /list, /mark",
            "You can use these commands: /list, /mark, /undo",
        ),
        (
            "<agents>\n<agent name='scout'/>\n</agents>",
            "<agents>\n<agent name='scout'/>\n<agent name='scribe'/>\n</agents>",
        ),
        ("## Agents\n\n| scout | looks |", "## Agents\n\n| scout | looks |\n| scribe | writes |"),
        ("", "<skills>\n- tide: reads\n- dock: docks\n</skills>"),
        ("Available agents:\n- scout: looks\n- scribe: writes", ""),
        (
            "The skills tide-table and dock-plan are there.",
            "The skills tide-table, dock-plan and fare-count are there.",
        ),
        (
            "| Skill | Use |\n|---|---|\n| tide | reads |",
            "| Skill | Use |\n|---|---|\n| tide | reads |\n| dock | docks |",
        ),
        (
            '<skills>[{"name":"tide"}]</skills>',
            '<skills>[{"name":"tide"},{"name":"dock"}]</skills>',
        ),
    ],
    "list_order": [
        ("<pier>north</pier>\n<pier>east</pier>\n", "<pier>east</pier>\n<pier>north</pier>\n"),
        ("## Fares\nCount.\n\n## Tides\nRead.", "## Tides\nRead.\n\n## Fares\nCount."),
        ("Skills:\n- tide: t\n- fare: f\n- dock: d", "Skills:\n- dock: d\n- tide: t\n- fare: f"),
        ("Piers: north, south, east", "Piers: south, north, east"),
        ("1. north\n2. south\n3. east", "1. south\n2. north\n3. east"),
        ('<pier name="n" side="w"/>', '<pier side="w" name="n"/>'),
        ('{"piers":["north","south"]}', '{"piers":["south","north"]}'),
        ("Read a.csv, b.csv and c.csv.", "Read b.csv, a.csv and c.csv."),
    ],
    "serializer_form": [
        ('{"body":"{\\"a\\": 1}"}', '{"body":"{\\"a\\":1}"}'),
        ('{"slots": 3, "open": true}', '{"slots":3,"open":true}'),
        ('Defaults: {"slots":3,"open":true}', 'Defaults: {"open":true,"slots":3}'),
        ('{"pier": "Troms\\u00f8"}', '{"pier": "Tromsø"}'),
        ('{"knots": 12.0}', '{"knots": 12}'),
        ('{"road": "a/b"}', '{"road": "a\\/b"}'),
        ("{'slots': None, 'open': True}", '{"slots": null, "open": true}'),
    ],
    "line_endings": [("one\ntwo\nthree", "one\r\ntwo\r\nthree"), ("\ufeffone", "one")],
    "whitespace": [
        ("one  \ntwo, and some more words", "one\ntwo, and some more words"),
        ("one\n\n\ntwo, and some more words", "one\n\ntwo, and some more words"),
        ("\tindented by a tab, in this line", "    indented by a tab, in this line"),
    ],
    "unicode_form": [
        ("Troms\u00f8 caf\u00e9", "Troms\u00f8 cafe\u0301"),
        ("the clerk's list", "the clerk’s list"),
        ("open - full", "open – full"),
        ("10 knots", "10\u00a0knots"),
        ("north → east", "north -> east"),
        ("at most ≤ 3 × 4", "at most <= 3 x 4"),
    ],
    "template_escape": [
        ("pier\\_north and a\\*b", "pier_north and a*b"),
        ("It&#39;s full.", "It's full."),
        ("north \\u2014 east", "north — east"),
        ("Write {route} as it is.", "Write {{route}} as it is."),
        ("fares < 10 & > 2", "fares &lt; 10 &amp; &gt; 2"),
        ('say "full" once', 'say \\"full\\" once'),
    ],
    "agent_prompt": [
        ("Plan mode is on: write a plan.", "You are in check mode. Check it."),
        ("Your task is to plan the week.", "Your task is to check the week."),
        ("Act as a planner.", "Act as a checker."),
        ("<mode>plan</mode>", "<mode>check</mode>"),
        ("# Role\nKeeper of the list", "# Role\nReader of the list"),
    ],
}
ROWS = [(kind, *pair) for kind, pairs in TEXTS.items() for pair in pairs]


def answer(a: Parts, b: Parts, shape: str, **known: Any) -> Miss:
    usage = {"cache_read_input_tokens": 9}
    context = {"seconds_between": 20, "same_account": True, "usage_b": usage, **known}
    return compare(read(write(a, shape)), read(write(b, shape)), Context(shape, **context))


def grown(parts: Parts) -> Parts:
    parts.turns += [("assistant", "Done."), ("user", "Thank you.")]
    return parts


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("kind", "old", "new"), ROWS, ids=[f"{k}-{o[:20]!a}" for k, o, _ in ROWS])
def test_a_value_in_the_system_text_names_its_kind(
    kind: str, old: str, new: str, shape: str
) -> None:
    a, b = Parts(), grown(Parts())
    a.system = [INTRO, f"{GUIDE}\n\n{old}\n"]
    b.system = [INTRO, f"{GUIDE}\n\n{new}\n"]
    found = answer(a, b, shape)
    assert (found.kind, found.verdict) == (kind, Verdict.MISS), found.evidence
    assert found.first_divergence is not None
    assert found.first_divergence.region == "system"


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [row for row in ROWS if row[0] != "agent_prompt"],
    ids=[f"{k}-{o[:20]!a}" for k, o, _ in ROWS if k != "agent_prompt"],
)
def test_a_value_in_a_tool_description_names_its_kind(kind: str, old: str, new: str) -> None:
    a, b = Parts(), grown(Parts())
    for parts, text in ((a, old), (b, new)):
        name, description, schema = parts.tools[1]
        parts.tools[1] = (name, f"{description}\n\n{text}\n", schema)
    found = answer(a, b, "openai.responses")
    assert found.kind == kind, found.evidence


FORMS = ("serializer_form", "line_endings", "whitespace", "unicode_form", "template_escape")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [row for row in ROWS if row[0] in FORMS],
    ids=[f"{k}-{o[:20]!a}" for k, o, _ in ROWS if k in FORMS],
)
def test_another_form_of_a_tool_result_is_no_rewritten_history(
    kind: str, old: str, new: str, shape: str
) -> None:
    a, b = Parts(), grown(Parts())
    for parts, text in ((a, old), (b, new)):
        parts.turns[2] = ("result", ("call_0001", text))
    assert answer(a, b, shape).kind == kind


def set_turn(parts: Parts, index: int, turn: tuple[str, Any]) -> None:
    parts.turns[index] = turn


def edited(key: str, value: Any) -> Plant:
    def plant(_: Parts, b: Parts) -> None:
        name, description, schema = b.tools[1]
        changed = json.loads(json.dumps(schema))
        changed[key] = value
        b.tools[1] = (name, description, changed)

    return plant


def reminder_in_a_later_message(a: Parts, b: Parts) -> None:
    a.turns.insert(0, ("user", REMINDER))
    b.turns.append(("user", REMINDER))


def reminder_within_texts(a: Parts, b: Parts) -> None:
    set_turn(a, 0, ("user", f"{REMINDER}\n\n{a.turns[0][1]}"))
    b.turns.append(("user", f"{REMINDER}\n\nAnd now?"))


def system_blocks_swapped(a: Parts, b: Parts) -> None:
    a.system.append(REMINDER)
    b.system.insert(1, REMINDER)


REMINDER = "<reminder>\nThe winter list is not final.\n</reminder>"
STRUCTURES: dict[str, tuple[str, Plant]] = {
    "a tool added at the end": (
        "tool_set",
        lambda _, b: b.tools.append(("undo", "Undo it.", {"type": "object"})),
    ),
    "a tool removed": ("tool_set", lambda _, b: b.tools.pop(0)),
    "a tool renamed": (
        "tool_set",
        lambda _, b: b.tools.__setitem__(0, ("read_list", *b.tools[0][1:])),
    ),
    "two tools swapped": ("tool_order", lambda _, b: b.tools.reverse()),
    "required from a set": ("schema_order", edited("required", ["slot", "route"])),
    "properties in another order": (
        "schema_order",
        edited("properties", dict(reversed(EDIT["properties"].items()))),  # type: ignore[attr-defined]  # a dict
    ),
    "a property added": (
        "prompt_text_edit",
        edited("properties", {**EDIT["properties"], "why": {"type": "string"}}),  # type: ignore[dict-item]  # a dict
    ),
    "an answer shortened": (
        "history_rewritten",
        lambda _, b: set_turn(b, 3, ("assistant", "Three boats leave.")),
    ),
    "a result cleared": (
        "history_rewritten",
        lambda _, b: set_turn(b, 2, ("result", ("call_0001", "[removed to save space]"))),
    ),
    "a turn summarised": (
        "history_rewritten",
        lambda _, b: b.turns.__setitem__(slice(0, 4), [("user", "Summary: three boats.")]),
    ),
    "a turn dropped": ("history_rewritten", lambda _, b: b.turns.__delitem__(3)),
    "a message put in": (
        "history_rewritten",
        lambda _, b: b.turns.insert(1, ("user", "Mind the weather, please.")),
    ),
    "another argument": (
        "history_rewritten",
        lambda _, b: set_turn(b, 1, ("call", ("call_0001", "read_route", {"route": "south"}))),
    ),
    "arguments in another key order": (
        "serializer_form",
        lambda _, b: set_turn(
            b, 1, ("call", ("call_0001", "read_route", {"day": 3, "route": "north"}))
        ),
    ),
    "a call id made anew": (
        "random_id",
        lambda _, b: set_turn(
            b, 1, ("call", ("call_x8k2", "read_route", {"route": "north", "day": 3}))
        ),
    ),
    "a reminder in a later message": ("block_moved", reminder_in_a_later_message),
    "a reminder moved within texts": ("block_moved", reminder_within_texts),
    "system blocks swapped": ("block_moved", system_blocks_swapped),
    "a helper's own prompt": (
        "agent_prompt",
        lambda _, b: b.system.__setitem__(0, "You are a reader of tide tables. Report them.\n"),
    ),
}


EDITS = {
    *("prompt_text_edit", "catalog", "list_order", "block_moved"),
    *("line_endings", "whitespace", "unicode_form", "serializer_form"),
}
EDIT_KNOWN = Provenance("edit", "agent@2")


def known(old: str, new: str, origin: Provenance) -> str:
    """Decide over two system texts of which it is known where the difference comes from."""
    bodies = []
    for text in (old, new):
        parts = Parts()
        parts.system = [INTRO, text]
        bodies.append(read(write(parts, SHAPES[0]), SHAPES[0]))
    a, b = bodies
    return decide(a, b, of_byte(a, b, common_bytes(a, b)), None, origin).kind


@pytest.mark.parametrize(("kind", "old", "new"), ROWS, ids=[f"{k}-{o[:20]!a}" for k, o, _ in ROWS])
def test_a_known_edit_is_one_whatever_its_words_speak_of(kind: str, old: str, new: str) -> None:
    found = known(old, new, EDIT_KNOWN)
    assert found in EDITS
    assert kind not in EDITS or found in (kind, "prompt_text_edit")


@pytest.mark.parametrize(
    ("name", "old", "new", "kind"),
    [
        ("user", "Ada", "Bob", "user_identity"),
        ("branch", "main", "pier", "workspace_state"),
        ("date", "2026-03-02", "2026-03-03", "clock"),
        ("tone", "short", "long", "prompt_text_edit"),
    ],
)
def test_a_known_value_is_judged_by_its_name_too(name: str, old: str, new: str, kind: str) -> None:
    origin = Provenance("value", name=name, values=(old, new))
    assert known(f"Mind {old}.", f"Mind {new}.", origin) == kind


@pytest.mark.parametrize(
    ("how", "kind"), [("move", "block_moved"), ("tree", "agent_prompt")], ids=["move", "tree"]
)
def test_what_is_known_needs_no_words(how: Literal["move", "tree"], kind: str) -> None:
    assert known("Now: 09:41:07", "Now: 09:41:52", Provenance(how, "as told")) == kind


def test_an_entry_that_came_is_a_catalogue_and_other_words_of_one_are_an_edit() -> None:
    lead = "Skills:\n- tide: reads the tide\n"
    assert known(lead, f"{lead}- pier: counts boats\n", EDIT_KNOWN) == "catalog"
    assert known(lead, lead.replace("reads", "tells"), EDIT_KNOWN) == "prompt_text_edit"
    assert known("Be kind.", "Be kind.\nAppended rule.", EDIT_KNOWN) == "prompt_text_edit"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("kind", "plant"), STRUCTURES.values(), ids=STRUCTURES)
def test_a_change_of_structure_names_its_kind(kind: str, plant: Plant, shape: str) -> None:
    a, b = Parts(), Parts()
    plant(a, b)
    found = answer(a, grown(b), shape, relation="next_turn")
    assert found.kind == kind, found.evidence


ASK, NOTE, MORE = "Which boats leave today?", "<note>The pier is closed.</note>", "Be brief."
PARTS = {
    "put in": ([ASK], [NOTE, ASK], "history_rewritten"),
    "put in behind": ([ASK], [ASK, NOTE], "history_rewritten"),
    "taken out": ([NOTE, ASK, MORE], [ASK, MORE], "history_rewritten"),
    "swapped": ([NOTE, ASK, MORE], [ASK, NOTE, MORE], "block_moved"),
    "changed in place": ([ASK, MORE], [ASK, MORE + "\n"], "whitespace"),
}


@pytest.mark.parametrize(("old", "new", "kind"), PARTS.values(), ids=PARTS)
def test_the_parts_of_a_message_are_blocks(old: list[str], new: list[str], kind: str) -> None:
    bodies = [
        {"input": [{"role": "user", "content": parts}, {"role": "assistant", "content": "Three."}]}
        for parts in (
            [{"type": "input_text", "text": text} for text in texts] for texts in (old, new)
        )
    ]
    a, b = (read(json.dumps(body).encode(), "openai.responses") for body in bodies)
    found = compare(a, b, Context("openai.responses", "next_turn", 9, True))
    assert found.kind == kind, found.evidence


def test_tool_calls_of_a_message_in_another_order_have_moved() -> None:
    calls = [{"id": f"c{n}", "function": {"name": f"f{n}", "arguments": "{}"}} for n in range(3)]
    a, b = (
        read(json.dumps({"messages": [{"role": "assistant", "tool_calls": order}]}).encode(), CHAT)
        for order in (calls, calls[::-1])
    )
    assert compare(a, b, Context(CHAT, "next_turn", 9, True)).kind == Kind.BLOCK_MOVED


def test_every_kind_of_the_closed_list_is_planted_somewhere() -> None:
    planted = {*TEXTS, *(kind for kind, _ in STRUCTURES.values())}
    by_rules = {"none", "model", "setting", "account", "ttl_expired", "lookback_exceeded"}
    by_rules |= {"breakpoint_missing", "provider_side"}  # in test_miss.py
    by_rules |= {"values_not_here"}  # between pins alone, in ops/test_unseen.py
    assert planted | by_rules == {str(kind) for kind in Kind}


PRECEDENCE = {
    "an id that names the person": ("user_id: u_8k2x4", "user_id: u_0d9w3", "user_identity"),
    "an opaque folder": ("cwd: /srv/wt/9c1e07aa", "cwd: /srv/wt/51d0b2f8", "random_id"),
    "a plain counter in a folder": ("cwd: /srv/wt/wt-03", "cwd: /srv/wt/wt-11", "workspace_state"),
    "one moment in two zones": ("At 12:00:05 CET", "At 11:00:05 UTC", "locale"),
    "a skill in a list": ("Skills:\n- tide: old", "Skills:\n- tide: new", "catalog"),
    "line ends and other space": ("a \r\nb\r\n", "a \nb\n", "line_endings"),
    "a role and a later edit": (
        "Act as a cook. Be kind.",
        "Act as a mate. Be swift.",
        "agent_prompt",
    ),
}


@pytest.mark.parametrize(("old", "new", "kind"), PRECEDENCE.values(), ids=PRECEDENCE)
def test_of_two_kinds_the_more_special_is_named(old: str, new: str, kind: str) -> None:
    a, b = Parts(), grown(Parts())
    a.system[1], b.system[1] = f"{GUIDE}\n\n{old}", f"{GUIDE}\n\n{new}"
    assert answer(a, b, "anthropic.messages").kind == kind


def test_a_date_that_runs_ahead_of_the_time_between_is_no_clock() -> None:
    a, b = Parts(), Parts()
    a.system[1], b.system[1] = (
        "The list is due on 2 March 2026.",
        "The list is due on 23 March 2026.",
    )
    assert answer(a, b, "openai.chat").kind == Kind.PROMPT_TEXT_EDIT
    assert answer(a, b, "openai.chat", seconds_between=21 * 86_400).kind == Kind.CLOCK
    assert answer(a, b, "openai.chat", seconds_between=None).kind == Kind.CLOCK


def test_a_match_by_cue_word_names_its_alternative() -> None:
    a, b = Parts(), Parts()
    a.system[1], b.system[1] = "account: 8c1f2a", "account: 0b77de"
    found = answer(a, b, "openai.chat")
    assert (found.kind, found.kind_alternatives) == ("user_identity", ("random_id",))


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data())
def test_a_planted_change_is_found_at_its_byte(shape: str, data: st.DataObject) -> None:
    kind, old, new = data.draw(st.sampled_from([*ROWS, *rows()]))
    if data.draw(st.booleans()) and old and new:
        old, new = new, old
    filler = data.draw(
        st.lists(st.sampled_from([GUIDE, "Mind the tide.", "Größe zählt."]), max_size=4)
    )
    a, b = Parts(), grown(Parts())
    a.system, b.system = ([INTRO, *filler, f"{text}\n"] for text in (old, new))
    found = answer(a, b, shape)
    streams = [read(write(parts, shape)).stream() for parts in (a, b)]
    place = next(i for i, (x, y) in enumerate(zip(*streams, strict=False)) if x != y)
    assert found.first_divergence is not None
    assert (found.kind, found.first_divergence.offset) == (kind, place)


WORDS = st.sampled_from(
    [
        *("\n", " ", "- ", "# ", ":", ",", "{", "}", "[", "]", '"a"', "<env>", "</env>", "\r\n"),
        *("2026-03-02", "10:14", "/srv/x1", "é", "e\u0301", "&amp;", "skills", "You are", "7f3a9c"),
        "a@b.example",
    ]
)
SNIPPETS = st.lists(WORDS, max_size=24).map("".join) | st.text(max_size=40)


@pytest.mark.parametrize("where", ["system", "tool", "message", "result"])
@given(old=SNIPPETS, new=SNIPPETS)
def test_whatever_differs_gets_a_kind_and_a_reason(where: str, old: str, new: str) -> None:
    a, b = Parts(), Parts()
    for parts, words in ((a, old), (b, new)):
        if where == "system":
            parts.system[1] = words
        elif where == "tool":
            parts.tools[0] = ("read_route", words, {"type": "object", "description": words})
        elif where == "message":
            set_turn(parts, 0, ("user", words))
        else:
            set_turn(parts, 2, ("result", ("call_0001", words)))
    found = answer(a, b, "anthropic.messages", relation="next_turn")
    assert (found.kind is Kind.NONE) == (old == new)
    assert found.evidence


@pytest.mark.parametrize(
    "long", ["x" * 300_000, "\n" * 300_000, '{"a":[' * 20_000, "a, " * 100_000, "<a>" * 100_000]
)
def test_a_long_text_is_looked_at_near_the_place_alone(long: str) -> None:
    a, b = Parts(), Parts()
    a.system[1], b.system[1] = f"{long} 10:14 {long}", f"{long} 10:19 {long}"
    assert answer(a, b, "openai.chat").kind == Kind.CLOCK


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data())
def test_what_is_no_change_of_content_is_a_hit(shape: str, data: st.DataObject) -> None:
    a, b = Parts(), Parts()
    if data.draw(st.booleans()):
        grown(b)  # a turn more, and the marker on another block
    body = json.loads(write(b, shape))
    body |= {"temperature": 1.0, "metadata": {"n": data.draw(st.integers())}}
    keys = data.draw(st.permutations(sorted(body)))
    indent = data.draw(st.sampled_from([None, 2]))
    text = json.dumps({k: body[k] for k in keys}, indent=indent, ensure_ascii=indent == 2)
    found = compare(
        read(write(a, shape)), read(text.encode(), shape), Context(shape, "next_turn", 20, True)
    )
    assert (found.kind, found.verdict, found.first_divergence) == (Kind.NONE, Verdict.HIT, None)


@pytest.mark.parametrize("escaped", [False, True])
def test_a_text_that_moved_is_found_among_many_messages(escaped: bool) -> None:  # noqa: FBT001 # two cases
    moved = "Always answer in short sentences, and name the file."
    parts = {
        name: [f"{name} says {i}" + (moved if i == 30 and name == "b" else "") for i in range(60)]
        for name in "ab"
    }
    bodies = []
    for name, system in (("a", f"Be kind.\n{moved}\nBye."), ("b", "Be kind.\nBye.")):
        messages = [{"role": "user", "content": text} for text in parts[name]]
        text = json.dumps({"system": system, "messages": messages, "model": "claude-sonnet-5"})
        bodies.append(text.replace("short", r"\u0073hort") if escaped else text)
    a, b = (read(text.encode(), "anthropic.messages") for text in bodies)
    found = decide(a, b, of_byte(a, b, common_bytes(a, b)))
    assert found.kind == "block_moved"


def test_what_stands_in_neither_body_is_not_searched_for_in_their_leaves() -> None:
    text = json.dumps({"system": "x", "messages": [{"role": "user", "content": "Mind the gap."}]})
    body = read(text.encode(), "anthropic.messages")
    assert body.may_hold("the gap")
    assert not body.may_hold("the gaps")
    assert not body.may_hold("!mind the gap")
