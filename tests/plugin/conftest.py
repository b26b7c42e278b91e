"""What pytest must not import here: a package of its own, one of whose modules does not load."""

collect_ignore = ["example"]
