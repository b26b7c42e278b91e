"""NX-Map and X-Map's graph as the paper prints them, beside the same from its formulas alone.

Nothing of the package is used on the naive side: tables with a row a person and NaN where there is
no rating, nested loops, and every meta-path one after another.
"""

from dataclasses import replace

import numpy as np
import pytest

from tacit.crossdomain import XMap
from tacit.crossdomain.holdout import Holdout
from tacit.crossdomain.x_map.replacement import Draws
from tacit.crossdomain.x_map.x_map import Budget
from tacit.engines.engine import Local
from tacit.errors import RequestError

K = 8
KNOWN = Draws(bytes(32))
GRID = 256  # of a step of the scale, in which means of several ratings are given
pytestmark = pytest.mark.filterwarnings("ignore:Mean of empty slice")


def table_of(trial):
    ratings = trial.domains.ratings
    table = np.full((ratings.n_users, ratings.n_items), np.nan)
    table[ratings.users, ratings.items] = ratings.levels
    return table


def cosines(table):
    """Adjusted cosine of every two columns; 0 of one with itself."""
    around = np.nan_to_num(table - np.nanmean(table, axis=1, keepdims=True))
    s = around.T @ around
    norms = np.sqrt(s.diagonal())
    s = s / np.maximum(np.outer(norms, norms), 1e-300)
    np.fill_diagonal(s, 0)
    return np.where(abs(s) < 1e-9, 0, s)


def significances(table):
    """S and F of every two columns."""
    rated = ~np.isnan(table)
    liked, disliked = table >= np.nanmean(table, axis=0), table < np.nanmean(table, axis=0)
    same = sum(side.T.astype(int) @ side for side in (liked, disliked))
    either = rated.sum(0)[:, None] + rated.sum(0) - rated.T.astype(int) @ rated
    return same, same / np.maximum(either, 1)


def strongest(s, i, others):
    """The K of `others` that are most like i, by |s|, of which rounding must not decide a tie."""
    joined = [j for j in others if s[i, j]]
    return sorted(joined, key=lambda j: (-round(abs(s[i, j]), 9), j))[:K]


def naive_edges(trial):
    """{(i, j): (s, S, F)}, in both directions, and the layer of each item: 0 BB, 1 NB, 2 NN."""
    table, in_target = table_of(trial), trial.domains.of_item == trial.target
    s, (same, share) = cosines(table), significances(table)
    s[same == 0] = 0
    items = range(len(in_target))
    sides = [[i for i in items if in_target[i] == side] for side in (False, True)]
    layer = {i: 0 for i in items if any(s[i, j] for j in sides[1 - int(in_target[i])])}
    for depth in (1, 2):
        inner = {i for i in layer if layer[i] == depth - 1}
        layer |= {
            i: depth for side in sides for i in side
            if i not in layer and any(s[i, j] for j in side if j in inner)
        }  # fmt: skip
    edges = {}
    for i in layer:
        mine, other = sides[int(in_target[i])], sides[1 - int(in_target[i])]
        towards = [[j for j in mine if layer.get(j) == layer[i] + step] for step in (-1, 1)]
        if layer[i] == 0:
            towards.append([j for j in other if layer.get(j) == 0])
        for near in towards:
            for j in strongest(s, i, near):
                edges[i, j] = edges[j, i] = (s[i, j], same[i, j], share[i, j])
    return edges, layer, in_target


def naive_x_sims(edges, layer, in_target):
    """X-Sim of every source and target item that a meta-path joins."""
    floor = {i: 3 + layer[i] if in_target[i] else 2 - layer[i] for i in layer}
    paths, onward = {}, {i: [] for i in layer}
    for i, j in edges:
        if floor[j] == floor[i] + 1:
            onward[i].append(j)

    def walk(path, told):
        for j in onward[path[-1]]:
            longer = [*told, edges[path[-1], j]]
            if in_target[j]:
                paths.setdefault((path[0], j), []).append(longer)
            walk([*path, j], longer)

    for i in layer:
        if not in_target[i]:
            walk([i], [])
    return {ends: x_sim(found) for ends, found in paths.items()}


def x_sim(paths):
    certainty = [np.prod([share for _, _, share in path]) for path in paths]
    similar = [sum(same * s for s, same, _ in p) / sum(same for _, same, _ in p) for p in paths]
    return float(np.dot(certainty, similar) / sum(certainty))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", ["none", "faithful"])
@pytest.mark.parametrize("seed", range(2))
def test_edges_and_x_sims_are_those_of_the_formulas(domains, mode, seed):
    trial = Holdout(keep=2, overlap=0.5).hide(domains, 1, seed=seed).trial
    budget = None if mode == "none" else Budget("0.3", "0.8")
    found, _ = XMap(mode=mode, k=K).map(trial, Local(), budget, KNOWN)
    edges, layer, in_target = naive_edges(trial)
    graph = found.graph
    start = np.repeat(np.arange(len(in_target)), np.diff(graph.start))
    onward = list(zip(start.tolist(), graph.other.tolist(), strict=True))
    assert {*onward, *((j, i) for i, j in onward)} == set(edges)
    facts = np.stack([graph.s, graph.same, graph.share], axis=1)
    assert facts == pytest.approx(np.array([edges[ends] for ends in onward]), abs=1e-5)
    expected = naive_x_sims(edges, layer, in_target)
    assert len(expected) > 500
    rows = np.repeat(found.sources, np.diff(found.found.start))
    ends = zip(rows.tolist(), found.found.other.tolist(), strict=True)
    assert dict(zip(ends, found.found.s, strict=True)) == pytest.approx(expected, abs=1e-5)


def naive_profiles(trial, whose):
    """Own target ratings of all, and of the people in `whose` what their source ratings become.

    A table of people and target items, in their order.
    """
    known = table_of(trial)
    edges, layer, in_target = naive_edges(trial)
    similar = naive_x_sims(edges, layer, in_target)
    best = {}
    for (i, j), x in sorted(similar.items()):
        if i not in best or x > similar[i, best[i]]:
            best[i] = j
    profiles = np.where(in_target, known, np.nan)
    for person in whose:
        mapped = {}
        for i in np.flatnonzero(~np.isnan(known[person]) & ~in_target).tolist():
            if i in best:
                mapped.setdefault(best[i], []).append(known[person, i])
        for j, values in mapped.items():
            if np.isnan(known[person, j]):
                profiles[person, j] = np.floor(np.mean(values) * GRID + 0.5) / GRID
    return profiles[:, in_target]


def most_alike(s, k):
    """Of each row the k columns of highest similarity, 0 left out."""
    return [sorted(np.flatnonzero(row), key=lambda j, row=row: (-row[j], j))[:k] for row in s]


def naive_by_items(profiles, people, items):
    s, means = cosines(profiles), np.nanmean(profiles, axis=0)
    means = np.where(np.isnan(means), np.nanmean(profiles), means)
    near = most_alike(s, K)
    for person, i in zip(people, items, strict=True):
        rated = [j for j in near[i] if not np.isnan(profiles[person, j])]
        above = [s[i, j] * (profiles[person, j] - means[j]) for j in rated]
        yield means[i] + sum(above) / sum(abs(s[i, j]) for j in rated) if rated else means[i]


def naive_by_people(profiles, people, items):
    s, means = cosines(profiles.T), np.nanmean(profiles, axis=1)
    means = np.where(np.isnan(means), np.nanmean(profiles), means)
    near = most_alike(s, K)
    for person, i in zip(people, items, strict=True):
        raters = [b for b in near[person] if not np.isnan(profiles[b, i])]
        above = [s[person, b] * (profiles[b, i] - means[b]) for b in raters]
        moved = sum(above) / sum(abs(s[person, b]) for b in raters) if raters else 0
        yield means[person] + moved


NAIVE = {"item": naive_by_items, "user": naive_by_people}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("alteregos", ["tested", "everybody"])
@pytest.mark.parametrize("variant", ["item", "user"])
def test_predictions_are_those_of_the_formulas(trial, variant, alteregos):
    """The whole of NX-Map: the tested people's AlterEgos beside the original profiles of the
    target, or with everybody's."""
    n_users, first = trial.domains.ratings.n_users, trial.domains.bounds[trial.target]
    whose = trial.people.tolist() if alteregos == "tested" else range(n_users)
    profiles = naive_profiles(trial, whose)
    told = XMap(variant=variant, k=K, alteregos=alteregos).predict(
        trial, engine=Local(), epsilon=None
    )
    expected = list(NAIVE[variant](profiles, trial.users.tolist(), (trial.items - first).tolist()))
    assert told.predicted.values - 1 == pytest.approx(expected, abs=1e-4)
    assert told.predicted.covered.mean() > 0.1


def test_x_map_and_nx_map_are_as_printed_unless_told_otherwise(trial):
    """With the same draws, whose AlterEgos there are makes a difference to both."""
    for mode in ("none", "faithful"):
        system = XMap(mode=mode, k=K, draws=KNOWN)
        assert (system.damping, system.alteregos) == (0, "tested")
        epsilon = None if mode == "none" else "1"
        alone, all_of = (
            each.predict(trial, engine=Local(), epsilon=epsilon).predicted.values
            for each in (system, replace(system, alteregos="everybody"))
        )
        assert (alone != all_of).any()
    with pytest.raises(RequestError, match="'nobody'"):
        XMap(alteregos="nobody")
