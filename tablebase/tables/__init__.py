"""Table files: format, index, manifest and data directory."""
