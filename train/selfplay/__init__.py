"""Games that models play against themselves, in memory, and what they learn from them."""
