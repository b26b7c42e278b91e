"""Star ratings from signed shuffled messages at an epsilon per user, without a curator: RMSE.

    python benchmarks/shuffled_stars.py ratings.parquet --seeds 3

Every user of DATA has 1, 17 or 166 devices, each with its own draws; a tenth of the ratings is held
out. Rows state both epsilons, the messages of a device in each round, the head, and RMSE in stars
of `shuffled-item-mean` and `shuffled-covariance`, next to `item-mean` and `bias` without privacy.
"""

import argparse
from pathlib import Path

import numpy as np

from tacit import fit, read
from tacit.collection.shuffled.plan import largest_delta
from tacit.planning.population import HELD_OUT, MadeUpWorld
from tacit.training import ShuffledCovariance, ShuffledItemMean
from tacit.training.person.fitted_model import ItemSide
from tacit.training.shuffled.settings import plan_for
from tacit.training.shuffled.signed_simulation import SignedDevices

COPIES = (1, 17, 166)
EPSILONS = ("1", "4")


def main() -> None:
    """Print a row per split, number of devices, epsilon and trainer."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path, help="a table of user, item and rating")
    parser.add_argument("--scale", default="1:5:1", help="the rating scale")
    parser.add_argument("--seeds", type=int, default=1, help="number of splits")
    parser.add_argument("--copies", type=int, nargs="+", default=COPIES, help="devices of a user")
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS, help="nats per user, replaced")
    parser.add_argument("--messages", type=int, default=100, help="M: most pairs of a device")
    parser.add_argument("--dummies", type=int, default=2000, help="most dummies about pairs")
    options = parser.parse_args()
    data = read(options.data, scale=options.scale)
    trainers = (
        ShuffledItemMean(messages=options.messages),
        ShuffledCovariance(messages=options.messages, most_dummies=options.dummies),
    )
    for seed in range(options.seeds):
        held_out = np.random.default_rng(seed).random(len(data)) < HELD_OUT
        world = MadeUpWorld(data.where(~held_out), data.where(held_out))
        free = (f"{name} {world.error(fit(name, world.own)):.4f}" for name in ("item-mean", "bias"))
        print(f"split {seed}: without privacy, {', '.join(free)}", flush=True)
        for copies in options.copies:
            devices = SignedDevices.of(world.own, copies)
            for epsilon in options.epsilons:
                for trainer in trainers:
                    print(f"split {seed}, {row(world, devices, trainer, epsilon)}", flush=True)


def row(
    world: MadeUpWorld,
    devices: SignedDevices,
    trainer: ShuffledItemMean | ShuffledCovariance,
    epsilon: str,
) -> str:
    """RMSE of a trainer at an epsilon, and the certificate and messages of its rounds."""
    delta = largest_delta(int(trainer.turnout * devices.people))
    plan = plan_for(trainer, devices.people, devices.items, epsilon, delta, signed=True)
    mu, items, rounds, claim = trainer.learn(devices, plan)
    side = ItemSide(trainer.name, world.own, mu, items)
    error = world.error(side.fitted(claim.guarantee))
    sent = ", ".join(f"{one.messages} + {one.dummies}" for one in rounds)
    return (
        f"{devices.people:,} devices, {trainer.name}: epsilon {claim.replaced} (replaced), "
        f"{claim.empty} (empty profile), delta {claim.delta}; {sent} messages; head "
        f"{np.count_nonzero(items[:, 1:].any(1)):,}; RMSE {error:.4f}"
    )


if __name__ == "__main__":
    main()
