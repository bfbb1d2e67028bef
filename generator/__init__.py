"""Retrograde analysis: plan, solve, write, verify."""
