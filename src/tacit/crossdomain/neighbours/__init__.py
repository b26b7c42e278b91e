"""Neighborhood methods: profiles, similarities and predictions."""
