"""Which times a record can hold: from 1970 to the end of 9999.

An index row holds a time as eight bytes without a sign, and a record writes a year as four digits.
Imports nothing: the launch path reads it.
"""

LAST_SECOND = 253_402_300_799
END_OF_TIME = LAST_SECOND * 1_000_000 + 999_999
"""The last microsecond, after which times would no longer sort as text."""
