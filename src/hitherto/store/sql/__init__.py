"""What all SQL backends of the store share."""
