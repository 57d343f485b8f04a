"""Request bodies of the model providers: read into leaves, and emitted. Pure."""
