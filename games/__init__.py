"""The games. Each knows nothing but itself: rules, features, notations, hand-written heuristics."""
