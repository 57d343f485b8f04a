"""Signs of a secret, for a launch: cheap to look for, and never missing what the rule would find.

`core.check_secrets` decides; it costs the import of `re`, more than a whole launch. So a launch
looks for these signs and asks the rule only where one is there.

Rule 1: a sign is a prefix that an issuer gave its keys and a run of bytes that may follow, never
longer than the rule asks for. A test holds it against the rule's shapes.
Rule 2: imports nothing.
"""

_UPPER = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_WORD = _UPPER + _UPPER.lower() + b"_-"
SIGNS = (
    (b"AKIA", _UPPER, 16),
    (b"ASIA", _UPPER, 16),
    (b"sk-", _WORD, 40),
    (b"gh", _WORD, 38),
    (b"github_pat_", _WORD, 60),
    (b"gl", _WORD, 23),
    (b"xox", _WORD, 22),
    (b"AIza", _WORD, 35),
    (b"k_live_", _WORD, 20),
    (b"k_test_", _WORD, 20),
    (b"hf_", _WORD, 30),
    (b"npm_", _WORD, 36),
    (b"pypi-AgE", _WORD, 50),
    (b"SG.", _WORD + b".", 60),
    (b"eyJ", _WORD + b".", 44),
    (b"PRIVATE KEY-----", b"", 0),
)
"""Prefix, the bytes that may follow, and how many of them at least do."""
_LONGEST_LOGIN = 200
_NOT_IN_LOGIN = b" \t\r\n\v\f/<>{}$"


def shows_sign(data: bytes) -> bool:
    """Whether something in `data` may be a secret."""
    if b"\\u00" in data:  # a JSON escape of an ASCII letter may hide one
        return True
    return any(_has(data, *sign) for sign in SIGNS) or _has_login(data)


def _has(data: bytes, prefix: bytes, allowed: bytes, least: int) -> bool:
    at = data.find(prefix)
    while at >= 0:
        start = at + len(prefix)
        run = data[start : start + least]
        if len(run) == least and not run.translate(None, allowed):
            return True
        at = data.find(prefix, at + 1)
    return False


def _has_login(data: bytes) -> bool:
    """Whether an address holds a name and a password: `://NAME:PASSWORD@`."""
    at = data.find(b"://")
    while at >= 0:
        login, found, _ = data[at + 3 : at + 3 + _LONGEST_LOGIN].partition(b"@")
        if found and login.count(b":") == 1 and not any(byte in login for byte in _NOT_IN_LOGIN):
            return True
        at = data.find(b"://", at + 3)
    return False
