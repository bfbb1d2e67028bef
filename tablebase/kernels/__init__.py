"""Compiled kernels about single positions: the one part of `tablebase` that needs numba.

Nothing here is imported before it is asked for (`tablebase.compiled`); the generator builds on it as well.
"""
