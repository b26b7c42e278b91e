"""Tacit recommends from ratings that nobody had to reveal."""
