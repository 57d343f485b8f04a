"""The shell scripts that git starts: thin, and gone before Python starts where nothing is to do.

Rule 1: a shim asks only what the shell and git answer fast. Which refs are pvc's on a server is a
setting, so it is read; nothing is guessed from names.
Rule 2: the hook that was there before runs first, with the same arguments and input, and its
refusal counts.
Rule 3: a clone without pvc on it must stay usable: its hooks warn. A server that cannot run its
guard refuses.
"""

from __future__ import annotations

import shlex
from typing import Final

CLIENT: Final = ("pre-commit", "pre-push", "reference-transaction", "post-merge")
SERVER: Final = ("pre-receive", "update")
BEFORE: Final = ".before-pvc"
MARK: Final = "# A hook of pvc, number 1: "

_HEAD = """\
#!/bin/sh
{mark}{name}. `pvc hook install` puts it here, `pvc hook uninstall` takes it away.
run_pvc() {{ {command} hook run {name} "$@"; }}
before=$0{before}
"""
_CHAIN = """\
if [ -x "$before" ]; then "$before" "$@" || exit; fi
"""
_RUN = """\
if ! command -v {program} >/dev/null; then
  echo 'pvc: not found, so this hook checks nothing' >&2
  exit 0
fi
"""
_PREFIX = """\
prefix=$(git config --get pvc.refPrefix) || prefix=refs/pvc
prefix=${prefix%/}
"""
# Keeps the lines that speak of our refs, and all of them only for a hook that was here before.
_READ = """\
ours= all=
while IFS= read -r line; do
  case $line in *" {prefix}/"*) ours="$ours$line
" ;; esac
  if [ -x "$before" ]; then all="$all$line
"; fi
done
if [ -x "$before" ]; then printf %s "$all" | "$before" "$@" || exit; fi
"""
_PIPE = """\
[ -n "$ours" ] || exit 0
{run}printf %s "$ours" | run_pvc "$@"
"""
# A server's guard. Names are compared without case, for there are disks on which `refs/PVC` is
# `refs/pvc`; one that is not ASCII is for pvc to look at. What cannot be asked is refused.
_GUARD = """\
refuse() {{ echo "pvc: $1; nothing below $prefix is let in unseen" >&2; exit 1; }}
folded() {{ printf %s "$1" | LC_ALL=C tr A-Z a-z; }}
odd() {{ printf %s "$1" | LC_ALL=C tr -d '\\n -~'; }}
{read}names=$(folded "{refs}") && odd=$(odd "{refs}") && low=$(folded "$prefix") ||
  refuse 'the names of the pushed refs could not be read'
case $names in {ours}) ;; *) [ -n "$odd" ] || exit 0 ;; esac
command -v {program} >/dev/null || refuse 'the guard of this repository was not found'
"""
_RECEIVED = """\
all=
while IFS= read -r line; do all="$all$line
"; done
if [ -x "$before" ]; then printf %s "$all" | "$before" "$@" || exit; fi
"""
_BODIES = {
    "pre-commit": """\
git diff --cached --quiet 2>/dev/null && exit 0
manifests=$(git ls-files --cached -- ':(top,glob)**/pvc.toml')
[ -n "$manifests" ] || exit 0
case $manifests in
  *'"'*) ;;  # a name that git quotes: let pvc look
  *)
    set -f --
    IFS='
'
    for manifest in $manifests; do set -- "$@" ":(top,literal)${manifest%pvc.toml}"; done
    unset IFS
    set +f
    git diff --cached --quiet -- "$@" 2>/dev/null && exit 0 ;;
esac
""",
    "post-merge": """\
[ -n "$(git for-each-ref --count=1 refs/pvc/trees)" ] || exit 0
""",
    "reference-transaction": """\
[ "$1" = prepared ] || [ -x "$before" ] || exit 0
""",
}


def shim(name: str, command: tuple[str, ...] = ("pvc",)) -> str:
    """Write the script of a hook; `command` is how pvc is started there."""
    head = _HEAD.format(mark=MARK, name=name, command=shlex.join(command), before=BEFORE)
    program = shlex.quote(command[0])
    run = _RUN.format(program=program)
    pipe = _PIPE.format(run=run)
    match name:
        case "pre-commit" | "post-merge":
            return head + _CHAIN + _BODIES[name] + run + "run_pvc\n"
        case "update":
            guard = _GUARD.format(read="", refs="$1", ours='"$low"/*', program=program)
            return head + _CHAIN + _PREFIX + guard + 'run_pvc "$@"\n'
        case "pre-receive":
            ours = '*" $low/"*'
            guard = _GUARD.format(read=_RECEIVED, refs="$all", ours=ours, program=program)
            return head + _PREFIX + guard + 'printf %s "$all" | run_pvc "$@"\n'
        case "reference-transaction":
            only = '[ "$1" = prepared ] || exit 0\n'
            return head + _BODIES[name] + _READ.format(prefix="refs/pvc") + only + pipe
        case _:
            return head + _PREFIX + _READ.replace("{prefix}", "$prefix") + pipe
