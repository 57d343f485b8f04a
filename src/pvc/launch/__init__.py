"""The short way at session start; start-up time rules here (STYLE §3)."""
