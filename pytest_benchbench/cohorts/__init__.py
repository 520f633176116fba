"""Recipes that build artifacts and their manifest."""


class CohortError(Exception):
    """A cohort cannot be built as asked; the message is one line that says what is wrong and where."""


class CohortUsageError(CohortError):
    """Something that does not exist was asked for, or things that do not go together."""
