"""What was observed: asking one adapter about one case, and the JSONL that keeps the answers."""
