"""What everything else is written in: game, rules, evaluator, search; settings, files, random numbers, processes."""
