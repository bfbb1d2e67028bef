"""Rules, tables and probing of the Russian draughts tablebase."""
