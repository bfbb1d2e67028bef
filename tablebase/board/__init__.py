"""The board: positions, moves, materials, counters and notation."""
