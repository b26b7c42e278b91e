"""Tables, figures and pages of any experiment."""
