"""Which form a folder of files is in, told by what only that form has. Pure.

    *.loom                                    loom
    *.md with Clio's front matter             clio
    systemprompt.md, or two of its fellows    harness
    SYSTEM.md, at the top or in a layer       panto
    identity.md with AGENTS.md                raku
    *.md                                      plain
    nothing of these                          loom, whose built-in pack a tree can start from

Rule 1: the first line that fits counts. A skill has front matter too, but not Clio's three keys; a
lone `memory.md` or `identity.md` is a file like any other.
Rule 2: a guess is shown and can be overruled, so it need not be right; it must not read more of a
file than says what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pvc.dialects.clio_source import FragmentError, read_fragment
from pvc.dialects.harness_files import ALWAYS_ON
from pvc.dialects.panto import LAYERS, SEED, path_of
from pvc.dialects.raku import IDENTITY as RAKU_IDENTITY
from pvc.model.manifest import Form

if TYPE_CHECKING:
    from pvc.model.source import Source, Sources

FIRST = "systemprompt.md"


def detect(sources: Sources) -> Form:
    """Tell the form of a folder's files."""
    paths = [source.path for source in sources]
    if any(path.endswith(".loom") for path in paths):
        return Form.LOOM
    texts = [source for source in sources if source.path.endswith(".md")]
    if any(_is_fragment(source) for source in texts):
        return Form.CLIO
    if FIRST in paths or len(ALWAYS_ON.keys() & {*paths}) > 1:
        return Form.HARNESS
    if {SEED, *(path_of(layer, SEED) for layer in LAYERS)} & {*paths}:
        return Form.PANTO
    if {RAKU_IDENTITY, "AGENTS.md"} <= {*paths}:
        return Form.RAKU
    return Form.PLAIN if texts else Form.LOOM


def _is_fragment(source: Source) -> bool:
    try:
        read_fragment(source)
    except FragmentError:
        return False
    return True
