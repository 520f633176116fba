"""Running the shards of a benchmark on a distributed engine."""


class EngineError(Exception):
    """Shards cannot be run, or cannot go on; one line that says why and what to do.

    Attributes:
        status: The exit code of the command: 2 for wrong use, 21 for a run that stays incomplete.
    """

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


class UnfetchableError(Exception):
    """A file cannot be had from where artifacts are fetched; what follows the file's name in a message, or a whole line.

    Attributes:
        passing: Whether it may be had at another time or by another machine.
    """

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing
