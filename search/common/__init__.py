"""What several searches share."""
