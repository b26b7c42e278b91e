"""The item side of a whole chain in one draw, for devices."""
