"""One module a verb, joining the edges and the core; each gives a frozen result."""
