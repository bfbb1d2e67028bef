"""Generation spread over many machines: Dask has the tasks, a store at any fsspec address has the files."""
