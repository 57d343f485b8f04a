"""Settings of pvc's that a launch needs, read from git's files; git is asked only where it must be.

Asking costs a third of a bare interpreter's start, so the files are read here: the system's, the
user's, the repository's, and what they include.

Rule 1: what one of these files says plainly, `name = word` below `[pvc]`, is taken as git takes
it: the last one counts. Quotes, conditions, a variable that sets something, a file that cannot be
read: then git is asked, and its answer holds.
Rule 2: a setting that is not understood stops the launch. A slip of the pen in `pvc.privacy` must
not keep what was to be kept nowhere.
Rule 3: of the system's files only `/etc/gitconfig` (or `GIT_CONFIG_SYSTEM`) is known here.
"""

import os

from pvc.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from pvc.launch.place import Place

CHOICES = {
    "privacy": ("inputs", "bytes", "digest", "keyed"),
    "secrets": ("warn", "refuse", "allow"),
}
"""Settings that are one of some words; the first one holds where nothing is set."""
NAMES = (*CHOICES, "key")
MAX_DEPTH = 10
"""How deep files may include each other, as in git."""
_SETTERS = ("GIT_CONFIG_PARAMETERS", "GIT_CONFIG_KEY_")
"""Variables that set something above all files."""
_ODD = b'"\\;#'


class Settings:
    """What is set: `privacy`, `secrets`, and `key`, a path or empty."""

    __slots__ = ("key", "privacy", "secrets")

    def __init__(self, values: "dict[str, str]") -> None:
        self.privacy = chosen("privacy", values.get("privacy", ""))
        self.secrets = chosen("secrets", values.get("secrets", ""))
        self.key = values.get("key", "")


def read(place: "Place") -> Settings:
    """Read the settings that hold in a repository."""
    try:
        return Settings(_values(place))
    except (_AskGitError, OSError):
        return Settings(_asked(place))


def chosen(name: str, word: str, at: str = "") -> str:
    """Give one of the words that a setting may be; raises `UsageError` on any other."""
    choices = CHOICES[name]
    if word and word not in choices:
        raise UsageError(f"`{at or 'pvc.' + name}` is `{word}`", hint=", ".join(choices))
    return word or choices[0]


class _AskGitError(Exception):
    """These files say something that only git takes apart."""


def _asked(place: "Place") -> "dict[str, str]":
    listing = place.git("config", "--list", "-z")
    if listing is None:
        raise UsageError("git cannot read its settings", hint="`git config --list` says why")
    values = {}
    for row in listing.decode(errors="surrogateescape").split("\0"):
        key, _, value = row.partition("\n")
        if key.startswith("pvc.") and key[4:] in NAMES:
            values[key[4:]] = value
    return values


def _values(place: "Place") -> "dict[str, str]":
    for name, value in os.environ.items():
        if name.startswith(_SETTERS) and any(word in value.lower() for word in ("pvc.", "include")):
            raise _AskGitError
    values: dict[str, str] = {}
    for path in _files(place):
        _add(values, path, 0)
    if b"[pvc" in _bytes(f"{place.git_dir}/config.worktree").lower():
        raise _AskGitError  # it counts only with `extensions.worktreeConfig`
    return values


def _files(place: "Place") -> "Iterator[str]":
    """Name git's files, those that count less first."""
    get = os.environ.get
    if get("GIT_CONFIG_NOSYSTEM", "").lower() in ("", "0", "false", "no", "off"):
        yield get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig"
    if "GIT_CONFIG_GLOBAL" in os.environ:
        yield os.environ["GIT_CONFIG_GLOBAL"]
    elif home := get("HOME", ""):
        yield (get("XDG_CONFIG_HOME") or f"{home}/.config") + "/git/config"
        yield f"{home}/.gitconfig"
    yield f"{place.common_dir}/config"


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall()
    except (FileNotFoundError, NotADirectoryError):
        return b""


def _add(values: "dict[str, str]", path: str, depth: int) -> None:
    """Take in what a file says, and what it includes, in the order of its lines."""
    data = _bytes(path)
    folded = data.lower()
    if b"[pvc" not in folded and b"[include" not in folded:
        return
    if depth > MAX_DEPTH or b"\\\n" in data or b"\\\r" in data:
        raise _AskGitError
    section = b""
    for line in data.split(b"\n"):
        text = line.strip(b" \t\r")
        if text[:1] == b"[":
            section = text.lower()
            if section.startswith((b"[pvc]", b"[include]")) and not section.endswith(b"]"):
                raise _AskGitError  # something follows on the same line
        elif section.startswith(b"[include") and text[:1] not in (b"", b"#", b";"):
            _include(values, path, text, depth, is_sure=section == b"[include]")
        elif section == b"[pvc]":
            _take(values, text)


def _take(values: "dict[str, str]", text: bytes) -> None:
    name, equals, value = text.partition(b"=")
    key = name.strip().lower().decode(errors="replace")
    if key in NAMES:
        if not equals or any(odd in value for odd in _ODD):
            raise _AskGitError
        values[key] = value.strip().decode(errors="surrogateescape")


def _include(
    values: "dict[str, str]", path: str, text: bytes, depth: int, *, is_sure: bool
) -> None:
    """Take in an included file; under a condition it is only seen whether it speaks of pvc."""
    name, _, value = text.partition(b"=")
    if name.strip().lower() != b"path":
        return
    if any(odd in value for odd in _ODD) or value.strip().startswith(b"%"):
        raise _AskGitError  # `%(prefix)` is where git was built to be
    target = os.path.expanduser(value.strip().decode(errors="surrogateescape"))
    target = os.path.join(os.path.dirname(path), target)
    found: dict[str, str] = {}
    _add(found, target, depth + 1)
    if found and not is_sure:
        raise _AskGitError
    values.update(found)
