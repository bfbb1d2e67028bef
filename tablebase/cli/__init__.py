"""The command line and the commands of the library."""
