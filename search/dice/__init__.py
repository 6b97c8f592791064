"""What the dice do to a value: luck, and rollouts."""
