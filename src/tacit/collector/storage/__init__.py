"""Storage of reports: databases, writer, retention and published models."""
