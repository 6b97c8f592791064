"""Trainers that fit an evaluator to records."""
