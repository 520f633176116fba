"""From pinned bytes to decoded media, and how two decoded media compare."""
