"""Probing: values, moves and lines from open tables, for one position or arrays of them."""
