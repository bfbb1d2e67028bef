"""The commands that generate and inspect tables."""
