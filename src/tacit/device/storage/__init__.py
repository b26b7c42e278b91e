"""Store of a device: one file, its upgrade, the checks of its rows, and its export."""
