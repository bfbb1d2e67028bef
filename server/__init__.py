"""The HTTP service over the tables."""
