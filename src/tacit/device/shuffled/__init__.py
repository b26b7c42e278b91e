"""Shuffled messages on a device: drawing, sealing, and sending of one bundle per task."""
