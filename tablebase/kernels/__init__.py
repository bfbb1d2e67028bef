"""Compiled kernels for positions: the only part of `tablebase` that needs numba.

`tablebase.probe.compiled` and the generator import them; no other module does.
"""
