"""channel-mf from reports to a fitted model: seconds of the whole fit."""

from measure import Clock, Figures, speak


def ours(path: str, channel: str, epsilon: str) -> Figures:
    """`path`: a rating file, or "made" for made-up ratings of MovieLens 1M's shape."""
    import numpy as np

    from made import SHAPES
    from tacit.channels import compile_channel
    from tacit.collection.perturb import perturb
    from tacit.collection.plans import Rated
    from tacit.models import ChannelMF, evidence
    from tacit.readers import read, synthetic

    ratings = synthetic(*SHAPES["ml-1m"]) if path == "made" else read(path)
    data = ratings
    if channel != "identity":
        data = perturb(
            ratings, Rated(compile_channel(channel, epsilon=epsilon, scale=ratings.scale))
        )
    some = evidence(ratings.where(np.arange(len(ratings)) < 1000))
    ChannelMF(burn_in=1, draws=1).fit(some)  # compile
    with Clock() as clock:
        fitted = ChannelMF().fit(evidence(data))
    return {
        "wall_seconds": clock.wall,
        "cpu_seconds": clock.cpu,
        "factors": fitted.items.shape[2] - 1,
    }


if __name__ == "__main__":
    speak({"ours": ours})
