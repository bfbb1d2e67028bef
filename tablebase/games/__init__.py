"""Games under the draw rules: search with a clock, PDN, adjudication, the lone-king rules."""
