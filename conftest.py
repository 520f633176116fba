"""What every test of this repository may use."""

from hypothesis import settings

pytest_plugins = ["pytester"]

# a busy machine is slow, not wrong: no example has a deadline
settings.register_profile("benchbench", deadline=None)
settings.load_profile("benchbench")
