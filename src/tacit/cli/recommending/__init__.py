"""The command `recommend`: from a model, or on the device from a profile."""
