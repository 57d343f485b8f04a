"""The verbs of pvc: pure functions over the model."""
