"""Trainers for top-N lists with a guarantee per user: dp-ease and dp-popularity."""
