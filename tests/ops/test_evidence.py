"""Records of calls: merged, put in chains, and every drop in reads found with its probable kind."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pvc.cli.main import main
from pvc.core.drops import Drops, moment, seconds
from pvc.errors import NotFoundError, UsageError
from pvc.model.call import Call
from pvc.ops import evidence
from pvc.ops.evidence import Evidence, read_bodies, read_evidence
from request_bodies import SHAPES, Parts, write

if TYPE_CHECKING:
    from pathlib import Path


def claude(number: int, read: int, written: int, second: int = 0, **more: Any) -> dict[str, Any]:
    """Write one line of a Claude Code transcript."""
    usage = {
        "input_tokens": 2,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": 9,
    }
    message = {"id": f"msg_{number}", "model": more.pop("model", "claude-opus-5"), "usage": usage}
    message |= {"diagnostics": d} if (d := more.pop("diagnostics", None)) else {}
    time = moment(1_790_000_000 + second)
    return {"type": "assistant", "sessionId": "s1", "timestamp": time, "message": message, **more}


def read(path: Path, *lines: dict[str, Any], **wish: Any) -> Evidence:
    file = path / "t.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return read_evidence(str(path), [file.name], **wish)


def kinds(found: Evidence) -> list[tuple[str, int]]:
    return [(drop.kind, drop.lost) for drop in found.drops]


def test_a_line_beyond_the_bound_is_said_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "MAX_INPUT_BYTES", 2000)
    calls = [claude(1, 0, 31000), {"usage": "x" * 9000}, claude(2, 31000, 500)]
    found = read(tmp_path, *calls)
    assert found.calls == 2
    assert [p.partition(": ")[2] for p in found.problems] == ["not read: a line larger than 0 MiB"]


def test_a_chain_that_reads_all_has_no_drop(tmp_path: Path) -> None:
    found = read(tmp_path, claude(1, 0, 31000), claude(2, 31000, 500), claude(3, 31500, 90))
    assert (found.calls, found.chains, found.drop_count) == (3, 1, 0)


DROPS: dict[str, tuple[list[dict[str, Any]], str, int]] = {
    "nothing tells": ([claude(1, 0, 31000), claude(2, 2000, 30000, 9)], "unknown", 29000),
    "expired": ([claude(1, 0, 31000), claude(2, 0, 31000, 301)], "ttl_expired", 31000),
    "model": (
        [claude(1, 0, 31000), claude(2, 0, 31000, model="claude-opus-5-5")], "model", 31000,
    ),
    "rewritten": ([claude(1, 0, 31000), claude(2, 9000, 300, 9)], "history_rewritten", 22000),
    "the provider says": (
        [
            claude(1, 0, 31000),
            claude(2, 0, 31000, 999, diagnostics={"cache_miss_reason": {"type": "tools_changed"}}),
        ],
        "tool_set", 31000,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "kind", "lost"), DROPS.values(), ids=DROPS)
def test_a_drop_has_its_probable_kind(
    tmp_path: Path, lines: list[dict[str, Any]], kind: str, lost: int
) -> None:
    assert kinds(read(tmp_path, *lines)) == [(kind, lost)]


def test_lines_of_one_message_are_one_call(tmp_path: Path) -> None:
    found = read(tmp_path, claude(1, 0, 100), claude(1, 0, 31000), claude(2, 31000, 10))
    assert (found.calls, found.drop_count) == (2, 0)


def test_a_helper_is_a_chain_of_its_own(tmp_path: Path) -> None:
    side = claude(2, 0, 5000, isSidechain=True)
    found = read(tmp_path, claude(1, 0, 31000), side, claude(3, 31000, 10))
    assert (found.chains, found.drop_count) == (2, 0)


def test_a_forked_file_counts_once(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        lines = [claude(1, 0, 31000), claude(2, 0, 31000)]
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = read_evidence(str(tmp_path), ["."])
    assert (found.calls, found.drop_count, found.repeated) == (2, 1, 1)


def test_wishes_narrow_the_list_but_not_the_comparison(tmp_path: Path) -> None:
    lines = [claude(i, 0, 30000 + i, 86_400 * i) for i in range(1, 6)]
    found = read(tmp_path, *lines, top=2, since=moment(1_790_000_000 + 86_400 * 3)[:10])
    assert found.calls == 3
    assert found.drop_count == 3
    assert [drop.lost for drop in found.drops] == [30004, 30003]
    assert [day.lost for _, day in found.days] == [30002, 30003, 30004]


def test_a_line_that_is_no_json_is_said_with_its_number(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"type":"summary"}\n{"usage": \n\n{"message": "cut of')
    found = read_evidence(str(tmp_path), ["t.jsonl"])
    assert found.other_lines == 3
    places = [problem.split(": ")[0].rsplit("/", 1)[1] for problem in found.problems]
    assert places == ["t.jsonl:2", "t.jsonl:4"]


def test_a_codex_rollout(tmp_path: Path) -> None:
    def count(total: int, cached: int, sum_total: int, minute: int) -> dict[str, Any]:
        last = {"input_tokens": total, "cached_input_tokens": cached, "output_tokens": 4}
        info = {"last_token_usage": last, "total_token_usage": {"input_tokens": sum_total}}
        payload = {"type": "token_count", "info": info}
        return {
            "timestamp": f"2026-11-02T09:{minute:02}:00Z",
            "type": "event_msg",
            "payload": payload,
        }

    meta = {"id": "t1", "base_instructions": {"text": "You mend boats."}}
    found = read(
        tmp_path,
        {"type": "session_meta", "payload": meta},
        {"type": "turn_context", "payload": {"model": "gpt-5.5"}},
        count(9000, 0, 9000, 1),
        count(9000, 0, 9000, 1),
        count(9100, 8960, 18100, 2),
        count(9900, 0, 28000, 3),
    )
    assert (found.calls, kinds(found)) == (3, [("unknown", 9088)])
    assert [call.session for _, call in found.heads] == ["t1"]


def test_a_pi_session(tmp_path: Path) -> None:
    def entry(number: int, fresh: int, cached: int, written: int) -> dict[str, Any]:
        usage = {"input": fresh, "output": 5, "cacheRead": cached, "cacheWrite": written}
        message = {"role": "assistant", "model": "claude-sonnet-5", "usage": usage}
        return {"type": "message", "id": f"e{number}", "message": message}

    head = {"type": "session", "version": 3, "id": "p1"}
    found = read(
        tmp_path, head, entry(1, 12, 0, 8000), entry(2, 12, 8000, 120), entry(3, 9, 0, 8300)
    )
    assert (found.calls, kinds(found)) == (3, [("unknown", 8120)])


def test_traces(tmp_path: Path) -> None:
    def span(number: int, total: int, cached: int) -> dict[str, Any]:
        held = {
            "gen_ai.conversation.id": {"stringValue": "c1"},
            "gen_ai.request.model": {"stringValue": "gpt-5.5"},
            "gen_ai.usage.input_tokens": {"intValue": str(total)},
            "gen_ai.usage.cache_read.input_tokens": {"intValue": str(cached)},
            "gen_ai.system_instructions": {"stringValue": "You mend boats."},
        }
        rows = [{"key": key, "value": value} for key, value in held.items()]
        return {"spanId": f"{number}", "startTimeUnixNano": str(number * 10**9), "attributes": rows}

    spans = [span(1, 9000, 0), span(2, 9100, 8900), span(3, 9200, 0)]
    (tmp_path / "t.json").write_text(
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}, indent=1)
    )
    found = read_evidence(str(tmp_path), ["t.json"])
    assert (found.calls, found.drop_count, found.drops[0].lost) == (3, 1, 9100)
    assert len(found.heads) == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_a_folder_of_bodies_is_compared_in_order_of_time(tmp_path: Path, shape: str) -> None:
    versions = [Parts(), Parts(), Parts()]
    for parts in versions[1:]:
        parts.turns += [("assistant", "Done."), ("user", "Thanks.")]
    versions[2].turns[3] = ("assistant", "Two boats leave.")
    for i, parts in enumerate(versions):
        file = tmp_path / f"{9 - i}.request.json"
        file.write_bytes(write(parts, shape))
        os.utime(file, (1000 + i, 1000 + i))
    (tmp_path / "x.response.json").write_text("{}")
    (tmp_path / "y.json").write_text("[]")
    found = read_bodies(str(tmp_path), ".")
    assert (found.requests, found.chains, found.pairs) == (3, 1, 2)
    assert [(pair.a, pair.b) for pair in found.misses] == [("8.request.json", "7.request.json")]
    assert "a request body is a JSON object" in found.problems[0]


def test_bad_wishes_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a date"):
        read(tmp_path, claude(1, 0, 1), since="someday")
    with pytest.raises(NotFoundError, match="no file `gone`"):
        read_evidence(str(tmp_path), ["gone"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError, match="below `empty`"):
        read_evidence(str(tmp_path), ["empty"])


def test_the_command_lists_the_worst_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read(tmp_path, claude(1, 0, 31000), claude(2, 0, 31000, 301), claude(3, 20000, 50, 310))
    assert main(["-C", str(tmp_path), "miss", "--transcript", "t.jsonl"]) == 1
    lines = capsys.readouterr().out.split("\n")
    assert lines[0] == "3 calls in 1 chains, 2 drops"
    assert lines[2].split()[0] == "31000"
    assert "ttl_expired after 301 s  s1/main" in lines[2]
    assert main(["-C", str(tmp_path), "miss", "--transcript", "t.jsonl", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["lost_tokens"] == 42000
    assert main(["-C", str(tmp_path), "miss"]) == 2


CALLS = st.lists(
    st.builds(
        lambda n, chain, total, cached: Call(
            str(n), chain, chain, "m", float(n), total, min(cached, total), total, "f", n
        ),
        st.integers(0, 30),
        st.sampled_from(["a", "b"]),
        st.integers(0, 9000),
        st.integers(0, 9000),
    ),
    max_size=30,
)


@given(CALLS, st.integers(1, 5))
def test_sums_by_day_are_the_sums_of_all(given_calls: list[Call], top: int) -> None:
    drops = Drops(top)
    for call in given_calls:
        drops.take(call)
    worst = drops.finish()
    assert sum(day.lost for day in drops.days.values()) == drops.lost
    assert sum(day.calls for day in drops.days.values()) == drops.calls
    assert len(worst) == min(top, drops.drop_count)
    assert [drop.lost for drop in worst] == sorted((d.lost for d in worst), reverse=True)


def test_times_are_read_in_utc_where_no_zone_is_given() -> None:
    assert seconds("1970-01-02") == 86_400
    assert seconds("1970-01-01T01:00:00+01:00") == 0
    assert moment(seconds("2026-11-02T09:00:05Z")) == "2026-11-02T09:00:05Z"
    assert seconds("soon") is None
    assert moment(None) == "-"
