"""Compiled loops over arrays, independent of users, channels and models."""

import os

# Waiting threads sleep instead of spinning: on a shared machine a spinning thread burns the very
# core that the last worker needs. Whoever prefers otherwise sets the variable first.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
