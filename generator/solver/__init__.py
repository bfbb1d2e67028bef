"""The solver: retrograde analysis of a material and its mirror, block by block."""
