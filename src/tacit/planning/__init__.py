"""Planning before any data are collected: predicted error and traffic, and a simulated fleet."""
