"""Wire formats of tasks, channels, reports and models, byte by byte; see docs/reference/wire.md."""
