"""What keeps reports: databases, the writer, retention, published models."""
