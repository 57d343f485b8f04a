"""The command line: parse, call one op, show."""
