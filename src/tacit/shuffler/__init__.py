"""Shuffled messages between devices, shuffler and provider: sealing and opening."""
