"""How the tests of this package draw their examples."""

from hypothesis import settings

# a busy machine is slow, not wrong: no example has a deadline
settings.register_profile("benchbench", deadline=None)
settings.load_profile("benchbench")
