"""Compiled loops over arrays, independent of users, channels and models."""

import os

# Waiting threads sleep instead of spinning: on a shared machine a spinning thread occupies the core
# that the last worker needs. Users can override it by setting the variable first.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
