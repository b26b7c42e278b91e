"""How noise is drawn, what bounds a contribution, and what a training has spent."""
