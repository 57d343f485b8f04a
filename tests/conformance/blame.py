"""Hand-checked blame cases: versions of whole trees, and which version wrote every byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.generated import FakeHistory
from pvc.core.blame import annotate

if TYPE_CHECKING:
    from pvc.core.blame import Annotation, Run


def run(case: dict[str, Any]) -> list[str]:
    """Blame each path at the last version and compare byte by byte."""
    options = case.get("options", {})
    encoding = options.get("encoding", "utf-8")
    trees = [{p: t.encode(encoding) for p, t in tree.items()} for tree in case["versions"]]
    history = FakeHistory.of(trees)
    annotation = annotate(history, moves=options.get("moves", True))
    lines = []
    for path, expected in case["expect"].items():
        wanted = [(p["v"], byte) for p in expected for byte in p["text"].encode(encoding)]
        lines += _file(path, wanted, annotation, history)
    return lines


def _file(
    path: str, wanted: list[tuple[Any, int]], annotation: Annotation, history: FakeHistory
) -> list[str]:
    data = history.blobs[annotation.blob_of(path)]
    runs = annotation.runs(path)
    if data != bytes(byte for _, byte in wanted):
        return [f"{path}: the expected texts are not the file"]
    if [0, *(run.end for run in runs)] != [*(run.start for run in runs), len(data)]:
        return [f"{path}: the runs do not tile the file"]
    numbers = history.numbers()
    got = [numbers[run.commit] for run in runs for _ in range(run.start, run.end)]
    for at, (version, (accepted, _)) in enumerate(zip(got, wanted, strict=True)):
        if version not in (accepted if isinstance(accepted, list) else [accepted]):
            return [f"{path}: byte {at}: version {accepted} expected, {version} came"]
    return _boundaries(path, runs, data)


def _boundaries(path: str, runs: tuple[Run, ...], data: bytes) -> list[str]:
    inside = [run.start for run in runs if data[run.start] & 0xC0 == 0x80]
    try:
        data.decode()
    except UnicodeDecodeError:
        return []  # where the bytes are no text, any boundary will do
    return [f"{path}: a run begins inside a character, at byte {at}" for at in inside]
