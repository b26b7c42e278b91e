"""What a token may send in an epoch, counted so that only a file outside the database links it."""
