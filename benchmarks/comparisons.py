"""The comparisons: who takes part, on what, and what has to come out."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean

from bench import OURS, Bench, made
from list_comparison import compare_lists


@dataclass(frozen=True)
class Request:
    """`data`: the rating file for accuracy. `ml_1m`: the one for speed at its size. `split`: a
    table of what people did, whose column `test` is a published split."""

    data: str | None = None
    ml_1m: str | None = None
    seeds: int = 5
    split: str | None = None


def reports(bench: Bench, request: Request) -> None:
    """Certified bulk reports beside single floating-point draws."""
    case = "bounded Laplace"
    ours, theirs = (bench.run("reports", case, party) for party in (OURS, "diffprivlib"))
    if ours:
        bench.least("reports a second", ours["per_second"], 60e6)
    if ours and theirs:
        times = ours["per_cpu_second"] / theirs["per_cpu_second"]
        bench.least("reports: times diffprivlib, a CPU second", times, 1000)


def catalogue(bench: Bench, request: Request) -> None:
    """Every slot of the large shape, written as it comes."""
    path = made("ml-20m")
    for epsilon in ("4", "8"):
        ours = bench.run("catalogue", f"ml-20m, epsilon {epsilon}", OURS, path, epsilon)
        if ours:
            case = f"catalogue, epsilon {epsilon} per slot"
            bench.least(f"{case}: slots a second", ours["slots_per_second"], 100e6)
            bench.most(f"{case}: peak GB", ours["peak_gb"], 2)

    ours = bench.run("catalogue", "gowalla, epsilon 4", OURS, made("gowalla"), "4", "there")
    if ours:
        case = "catalogue of lists, epsilon 4 per slot"
        bench.least(f"{case}: slots a second", ours["slots_per_second"], 100e6)
        bench.most(f"{case}: peak GB", ours["peak_gb"], 2)


def als(bench: Bench, request: Request) -> None:
    """A sweep of explicit ALS beside two compiled peers."""
    for shape, sweeps in (("ml-1m", 10), ("ml-20m", 5)):
        path = made(shape)
        said = {
            party: bench.run("als", shape, party, path, sweeps)
            for party in (OURS, "lenskit", "cmfrec")
        }
        ours = said[OURS]
        for party, share in (("lenskit", 0.6), ("cmfrec", 0.85)):
            theirs = said[party]
            if ours and theirs:
                part = ours["cpu_seconds"] / theirs["cpu_seconds"]
                bench.most(f"als {shape}: share of {party}'s CPU seconds", part, share)
        if ours and shape == "ml-20m":
            bench.most(f"als {shape}: CPU seconds a sweep", ours["cpu_seconds"], 4)
            bench.most(f"als {shape}: peak GB", ours["peak_gb"], 3)


def topk(bench: Bench, request: Request) -> None:
    """Everybody's ten best of the large shape."""
    path = made("ml-20m")
    ours, _ = (bench.run("topk", "ml-20m", party, path) for party in (OURS, "implicit"))
    if ours:
        bench.least("top 10: people a second", ours["per_second"], 30_000)


def channel(bench: Bench, request: Request) -> None:
    """The whole fit of channel-mf at ML-1M's size."""
    case = "ml-1m" if request.ml_1m else "ml-1m, made up"
    for name, epsilon in (("optimal", "1"), ("randomized-response", "3"), ("identity", "-")):
        setting = f"{case}, {epsilon}"
        ours = bench.run("channel", setting, OURS, request.ml_1m or "made", name, epsilon)
        if ours:
            bench.most(f"channel-mf {setting}: seconds", ours["wall_seconds"], 30)


def accuracy(bench: Bench, request: Request) -> None:
    """Error without privacy beside a Gibbs sampler for factorization machines."""
    if request.data is None:
        bench.skip("accuracy", "", OURS, "no rating file was given: --data PATH")
        return
    errors: dict[str, list[float]] = {}
    for seed in range(request.seeds):
        for party in (OURS, "ours-blind", "myfm", "myfm-ordinal", "myfm-told"):
            path = request.data if party.startswith(OURS) else made(request.data)
            environment = party.partition("-")[0]
            said = bench.run("accuracy", f"seed {seed}", party, path, seed, environment=environment)
            if said:
                errors.setdefault(party, []).append(said["rmse"])
    for party in (OURS, "ours-blind"):
        if len(errors.get(party, [])) == len(errors.get("myfm", [])) > 0:
            beyond = mean(errors[party]) - mean(errors["myfm"])
            bench.most(f"RMSE of channel-mf ({party}) beyond myfm's, mean of seeds", beyond, 0.003)


def completion(bench: Bench, request: Request) -> None:
    """Least nuclear norm beside a soft-impute that decomposes the whole matrix each time."""
    if request.data is None:
        bench.skip("completion", "", OURS, "no rating file was given: --data PATH")
        return
    path = made(request.data)
    ours, theirs = (
        bench.run("completion", "lambda 15", party, path) for party in (OURS, "fancyimpute")
    )
    if ours and theirs:
        bench.most("RMSE of completion beyond fancyimpute's", ours["rmse"] - theirs["rmse"], 0.002)
        part = ours["cpu_seconds"] / theirs["cpu_seconds"]
        bench.most("completion: share of fancyimpute's CPU seconds", part, 0.1)


def svdpp(bench: Bench, request: Request) -> None:
    """SVD++ by gradient descent: the same updates, and what they take."""
    cases = (
        ("ML-100K", request.data, range(request.seeds), 0),
        ("half of ML-1M", request.ml_1m, range(1), 2998),
    )
    for case, path, seeds, people in cases:
        if path is None:
            bench.skip("svdpp", case, OURS, "no rating file was given: --data, --ml-1m PATH")
            continue
        said = {
            party: [
                bench.run("svdpp", f"{case}, {seed}", party, file, seed, people) for seed in seeds
            ]
            for party, file in ((OURS, path), ("ours-same-start", path), ("surprise", made(path)))
        }
        figures = {party: [row for row in rows if row] for party, rows in said.items()}
        if not all(len(rows) == len(seeds) for rows in figures.values()):
            continue
        rmse, cpu = (
            {party: mean(row[figure] for row in rows) for party, rows in figures.items()}
            for figure in ("rmse", "cpu_seconds")
        )
        for party, limit in ((OURS, 0.002), ("ours-same-start", 1e-6)):
            beyond = rmse[party] - rmse["surprise"]
            bench.most(f"svdpp {case}: RMSE ({party}) beyond surprise's", beyond, limit)
        share = cpu[OURS] / cpu["surprise"]
        bench.most(f"svdpp {case}: share of surprise's CPU seconds", share, 1 / 30)


def similar(bench: Bench, request: Request) -> None:
    """Everybody's fifty nearest items, in exact sums, beside floating-point ones."""
    for shape in ("ml-1m", "ml-20m"):
        path = made(shape)
        ours, theirs = (
            bench.run("similar", shape, party, path) for party in (OURS, "sparse_dot_topn")
        )
        if ours and theirs:
            for clock in ("wall_seconds", "cpu_seconds"):
                part = ours[clock] / theirs[clock]
                bench.most(f"similar {shape}: share of sparse_dot_topn's {clock}", part, 1.5)
        if ours:
            bench.most(f"similar {shape}: peak GB", ours["peak_gb"], 4)


def lists(bench: Bench, request: Request) -> None:
    """Lists of 20 for everybody beside implicit's, on a published split."""
    if request.split is None:
        bench.skip("lists", "", OURS, "no split was given: --split PATH")
        return
    compare_lists(bench, request.split)


COMPARISONS: dict[str, Callable[[Bench, Request], None]] = {
    "reports": reports,
    "catalogue": catalogue,
    "als": als,
    "topk": topk,
    "channel": channel,
    "accuracy": accuracy,
    "completion": completion,
    "svdpp": svdpp,
    "similar": similar,
    "lists": lists,
}
