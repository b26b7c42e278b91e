"""One axis: every system set so that a whole person has the same epsilon."""
