"""Streams that are closed, full, cut, or slow."""

import json

import pytest

from attack.conftest import shell
from cli.conftest import Clone

PIN = "PVC pin agent --session s --set cwd=/"


@pytest.mark.parametrize(
    "line",
    [
        f"{PIN} >&-",
        f"{PIN} <&- >&- 2>&-",
        "PVC pin --batch <&-",
        "PVC render agent --set cwd=/ >&-",
        "PVC log --json >&- 2>&-",
        "PVC show agent <&- >&-",
    ],
)
def test_a_closed_stream_leads_nowhere(adopted: Clone, line: str) -> None:
    done = shell(adopted, line)
    assert (done.code, done.err) == (0, "")


def test_a_pin_with_closed_streams_is_recorded_whole(adopted: Clone) -> None:
    assert shell(adopted, f"{PIN} <&- >&- 2>&-").code == 0
    assert "session      s" in adopted.pvc("show", "s").text


def test_a_closed_standard_input_is_an_empty_one(adopted: Clone) -> None:
    for line in ("PVC render agent --env - <&-", "PVC pin agent --session s --env - <&-"):
        done = shell(adopted, line)
        assert done.code == 3
        assert "the text ends" in done.err


@pytest.mark.parametrize(
    "line", [PIN, f"{PIN} --json", "PVC render agent --set cwd=/", "PVC log", "PVC log --json"]
)
def test_a_full_disk_behind_the_answer_is_said_in_one_line(adopted: Clone, line: str) -> None:
    done = shell(adopted, f"{line} > /dev/full")
    assert done.code == 5
    assert "no space left" in done.err
    assert "Traceback" not in done.err


def test_a_reader_that_leaves_a_batch_is_no_fault(adopted: Clone) -> None:
    call = json.dumps({"session": "x", "tree": "agent", "set": {"cwd": "/"}})
    lines = f"for i in $(seq 400); do echo '{call}' | sed s/x/s$i/; done > lines"
    line = f'{lines}; PVC pin --batch < lines | head -c 1 > /dev/null; echo "${{PIPESTATUS[0]}}"'
    done = shell(adopted, line)
    assert done.text.strip() in {"0", "141"}
    assert done.err == ""


def test_a_value_that_comes_through_a_pipe_is_read_to_its_end(adopted: Clone) -> None:
    value = "x" * 300_000
    adopted.write("env.json", json.dumps({"cwd": value}))
    for command in ("PVC render agent", "PVC pin agent --session s --out -"):
        done = shell(adopted, f"{command} --env <(cat env.json)")
        assert done.code == 0, done.err
        assert value.encode() in done.out


def test_guidance_that_comes_through_a_pipe_is_carried_whole(ada: Clone) -> None:
    (ada.path / "t").mkdir()
    ada.pvc("init", "t")
    ada.commit()
    ada.pvc("supersede", "t", "-m", "x")
    ada.write("guide.md", "guide\n" * 50_000)
    sets = " ".join(f"--set {name}=/" for name in ("workspace", "platform", "shell"))
    ada.write("env.json", '{"enforcement": "BestEffort", "network": {"kind": "NetworkOpen"}}')
    done = shell(ada, f"PVC render t {sets} --env env.json --guidance <(cat guide.md)")
    assert done.out.count(b"guide\n") == 50_000


@pytest.mark.parametrize("option", ["--out", "--map"])
@pytest.mark.parametrize("place", ["nowhere/x", "agent", "agent/pvc.toml/x"])
def test_a_file_that_cannot_be_written_is_named(adopted: Clone, option: str, place: str) -> None:
    error = adopted.refused("render", "agent", "--set", "cwd=/", option, place, code=5)
    assert place in error
    assert ".tmp." not in error


def test_a_working_folder_that_is_gone_is_said(adopted: Clone) -> None:
    for command in ("PVC log", "PVC pin agent --session s --set cwd=/"):
        done = shell(adopted, f"mkdir gone; cd gone; rmdir ../gone; {command}")
        assert done.code == 4
        assert "working folder is gone" in done.err


@pytest.mark.parametrize(
    "words",
    [
        "render agent --env - --guidance -",
        "pin agent --session s --env - --tools -",
        "pin agent --session s --set cwd=/ --guidance - --guidance-default -",
    ],
)
def test_standard_input_is_read_once(adopted: Clone, words: str) -> None:
    done = shell(adopted, f'echo \'{{"cwd": "/"}}\' | PVC {words}')
    assert (done.code, done.out) == (2, b"")
    assert "standard input is read by" in done.err


def test_a_line_of_a_batch_cannot_take_the_lines_that_follow(adopted: Clone) -> None:
    call = {"session": "s", "tree": "agent", "set": {"cwd": "/"}}
    lines = [
        {"session": "r", "request": "-"},
        call | {"guidance": ["-"]},
        call | {"out": "-"},
        call,
    ]
    adopted.write("lines", "".join(json.dumps(line) + "\n" for line in lines))
    done = shell(adopted, "PVC pin --batch < lines")
    answers = [json.loads(line) for line in done.text.splitlines()]
    assert [answer["status"] for answer in answers] == ["error", "error", "error", "pinned"]
    assert "standard" in answers[0]["message"]
    assert "standard output" in answers[2]["message"]
