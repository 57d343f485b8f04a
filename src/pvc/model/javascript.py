"""How JavaScript sees a text: what it trims, how it sorts and prints. Pure, and imports nothing.

Some forms come from programs in that language, and their bytes hang on its rules; Python's own
`strip`, `sorted` and `repr` are each wrong for some text.

Rule 1: white space is `WHITE`: U+00A0, U+3000 and U+FEFF are, U+0085 and U+001C to U+001F are not.
Rule 2: texts sort by UTF-16 code unit.
Rule 3: a number is printed as the shortest digits that read back the same, in JavaScript's layout.
"""

WHITE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_LARGEST_PLAIN = 21
_SMALLEST_PLAIN = -6


def units(text: str) -> bytes:
    """Encode as UTF-16, two bytes a unit; big-endian, so these bytes sort as the units do."""
    return text.encode("utf-16-be", "surrogatepass")


def length(text: str) -> int:
    """Count UTF-16 code units."""
    return len(text) + sum([char > "\uffff" for char in text])


def trim(text: str) -> str:
    """Cut white space from both ends."""
    return text.strip(WHITE)


def words(text: str) -> "list[tuple[int, int]]":
    """Find the runs of `text` that hold no white space."""
    found = []
    at = 0
    while at < len(text):
        start = at
        while at < len(text) and text[at] not in WHITE:
            at += 1
        if start < at:
            found.append((start, at))
        at += 1
    return found


def squeezed(text: str) -> str:
    """Make one space of every run of white space, and none at either end."""
    return " ".join([text[start:end] for start, end in words(text)])


def as_float(number: object) -> float:
    """Round a number, or the text of one, as JavaScript reads it."""
    try:
        return float(number)  # type: ignore[arg-type]  # a number, or a text that is one
    except OverflowError:  # a whole number beyond the largest float
        return float("inf")


def number_text(number: object) -> str:
    """Print a finite number as JavaScript does: the shortest digits that read back the same."""
    value = as_float(number)
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    return ("-" if value < 0 else "") + _laid(digits, point)


def _laid(digits: str, point: int) -> str:
    """Lay out `0.DIGITS` times ten to the `point`."""
    if len(digits) <= point <= _LARGEST_PLAIN:
        return digits + "0" * (point - len(digits))
    if 0 < point <= _LARGEST_PLAIN:
        return f"{digits[:point]}.{digits[point:]}"
    if _SMALLEST_PLAIN < point <= 0:
        return "0." + "0" * -point + digits
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"
