"""The engine, its Hub protocol, and play in a terminal."""
