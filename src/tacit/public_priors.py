"""Public priors: statistics of published data sets, used before any rating is observed.

They are public, so nothing that follows from them costs epsilon. Whoever changes one changes every
figure that was measured with it.
"""

RATING_SPREAD = 0.2125
"""Deviation of a person's ratings around their taste, as a share of the scale's range: .85 on 1 to
5, what star ratings commonly show. Channels are chosen by it, and likelihoods read with it."""

SPREADS = (0.8, 1.0, 1.25)
"""How a person's own deviation compares with `RATING_SPREAD`: each for a third of people. Wider
ones would take for spread what a model of tastes cannot say."""

LEVEL_NOISE = 0.23
"""Deviation of a rating around its item's and person's level, likewise: .92 stars. It is above
`RATING_SPREAD`, because levels know less of a rating than tastes do."""

LEVEL_SPREAD = 0.12
"""Deviation of items' and of people's levels around the mean, likewise: .48 stars."""

RATED_SHARE = 0.05
"""The share of a catalogue that one person has rated, where it is needed."""

OWN_BIAS_RIDGE = 5.0
"""A device's own mean is damped by so many ratings, as is customary."""
