"""The rooms of each package, from the ground up: a room imports only rooms before it."""

# A room is a sub-package, or a module directly in the package.
_FLOORS = """
tablebase: errors board kernels rules tables probe games report engine export cli
generator: errors machine lock memory materials solver plan progress compilation run \
verify reports cluster cli
server: settings service metrics problems openapi requests limits routes app serving cli
"""
FLOORS = {
    package: rooms.split() for package, rooms in (line.split(":") for line in _FLOORS.strip().splitlines())
}
