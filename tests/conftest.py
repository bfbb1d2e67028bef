from hypothesis import settings

# A shared machine stalls now and then; how long one example takes says nothing about the code.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")
