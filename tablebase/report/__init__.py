"""Answers as plain data for JSON, and as text."""
