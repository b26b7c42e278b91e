"""Prediction of error and traffic before any data are collected."""
