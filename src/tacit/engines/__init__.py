"""Where stages of a computation run: on this machine, or on Spark."""
