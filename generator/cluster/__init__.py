"""Generation on many machines: Dask runs the tasks, and a store at an fsspec address holds the files."""
