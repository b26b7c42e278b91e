"""The label of a task, a model or a comparison: one page and one JSON, computed from its bytes."""
