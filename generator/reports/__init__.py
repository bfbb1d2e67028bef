"""Studies of whole tables: draw rules, lone kings, records."""
