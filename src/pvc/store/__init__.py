"""The git edge: objects, refs, versions, ledger."""
