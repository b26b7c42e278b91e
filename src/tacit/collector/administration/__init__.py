"""Administration of a store: what it contains, deletion, verification, backup and tokens."""
