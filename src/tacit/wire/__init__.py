"""What devices and collectors say to each other, to the byte; see docs/reference/wire.md."""
