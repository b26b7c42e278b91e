"""Checks of a fitted model before it is published."""
