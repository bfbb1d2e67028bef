"""The draw rules: rulesets as data, counters, outcomes and the clock of a game."""
