"""Errors that a user sees: one sentence that says what happened and what to do.

TracerError
├── InputError          a file or folder that could not be read (exit code 3)
├── UsageError          a wrong option or argument (exit code 2)
├── StoreError          the database cannot be used
│   └── NewerStoreError   it was written by a newer version
└── NotFoundError       no such session, request or source
"""


class TracerError(Exception):
    """Base of all errors whose message is meant for the user."""


class InputError(TracerError):
    """An input file that cannot be read at all; single bad lines are recorded, not raised."""


class UsageError(TracerError):
    """A wrong option, argument or query parameter."""


class StoreError(TracerError):
    """The database cannot be opened, read or written."""


class NewerStoreError(StoreError):
    """The database holds migrations that this version does not know."""


class NotFoundError(TracerError):
    """A session, request or source that the database does not hold."""
