"""One reader a source form: Sources → Pack. Pure."""
