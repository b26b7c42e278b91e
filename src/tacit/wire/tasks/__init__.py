"""Tasks: documents, catalogues, and blocks of items that extend a task."""
