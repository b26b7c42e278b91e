"""Kernels in threads: each piece once, and the same digits from any number of threads."""

import threading
from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

from tacit import kernels
from tacit.kernels import als, draw, foldin, gibbs_scales, linkage, predict
from tacit.kernels.gibbs_rows import ANYHOW, Conditional, ReportRows, half_sweep
from tacit.kernels.layout import add_product, layout, row_sums
from tacit.kernels.neighbourhood import paths, predictions
from tacit.kernels.neighbourhood.sensitivity import pairs
from tacit.kernels.neighbourhood.similar import Things
from tacit.kernels.projection import lifted, projected
from tacit.kernels.ranking import linked_lists, topk
from tacit.models.channel_mf.likelihood import score_table
from tacit.scale import SPREADS, RatingScale

USERS, ITEMS, CELLS, WIDTH = 70, 50, 1500, 6
STARS = np.arange(1.0, 6.0)
rng = np.random.default_rng(12)


def normal(*shape: int) -> np.ndarray:
    return rng.normal(0, 0.5, shape).astype(np.float32)


CELL = rng.permutation(USERS * ITEMS)[:CELLS].astype(np.int32)
BOTH, ORDER = layout(CELL // ITEMS, CELL % ITEMS, USERS, ITEMS)
PAIRS = (CELL // ITEMS)[ORDER], (CELL % ITEMS)[ORDER]
X, Y, LEVEL, MU = normal(3, USERS, WIDTH), normal(3, ITEMS, WIDTH), normal(ITEMS), normal(3) + 3
STAR, SIGNED, WEIGHT = rng.integers(1, 6, CELLS) * 1.0, normal(CELLS), abs(normal(CELLS))
DOUBLES, COUNTS = X[0].astype(float), rng.integers(-9, 9, CELLS)
HOME = foldin.Home(3.0, Y[0], np.full(WIDTH, 1.5), DOUBLES, STARS, 0.85, abs(LEVEL))
PROBLEM = als.SideProblem(SIGNED, WEIGHT, Y[0], LEVEL, np.ones(WIDTH, np.float32))
LINKS = csr_array(np.where(rng.random((ITEMS, ITEMS)) < 0.1, normal(ITEMS, ITEMS), 0))
SYMBOLS = rng.integers(0, 5, (USERS, ITEMS)).astype(np.uint8)
TABLE = draw.stacked([[9 << 60, 11 << 60], [3 << 60]], [64, 64])
CHANNEL, SCALE = np.eye(5) * 0.8 + 0.04, RatingScale.parse("1:5:1")
READINGS = score_table(CHANNEL, [slice(0, 5)], SCALE, SPREADS).readings
REPORTS = ReportRows(
    BOTH.users.start, BOTH.users.other, (STAR - 1).astype(np.uint16), np.full(CELLS, -1, np.int16)
)
SCALES, COLUMNS = rng.integers(0, 3, USERS).astype(np.uint8), rng.integers(0, 3, USERS)
SEEDS = rng.integers(0, 1 << 60, USERS, np.uint64)
CONDITIONAL = Conditional(
    SCALES, np.zeros(ITEMS, np.uint8), np.float32(3), np.float32(0.1), 1, normal(2), Y[0],
    normal(USERS, 2), normal(2, WIDTH), np.ones(WIDTH, np.float32), normal(USERS, WIDTH),
    np.full(USERS, ANYHOW),
)  # fmt: skip
MOVED = gibbs_scales.MovedRows(
    2, normal(2), np.float32(3), X[0], SCALES, normal(USERS, 2), Y[0], np.zeros(ITEMS, np.uint8)
)
THINGS = Things(
    np.arange(ITEMS, dtype=np.int32), np.ones(ITEMS), BOTH.items.start, BOTH.items.other,
    COUNTS.astype(np.int32), (COUNTS > 0).astype(np.uint8),
)  # fmt: skip
WITNESSED = THINGS._replace(start=BOTH.users.start, other=BOTH.users.other)
THETAS = gibbs_scales.Thetas(np.float32(3), X[0], Y[0])
GUMBELS = rng.gumbel(size=(USERS, 3))
SEEN = layout(
    np.repeat(np.arange(5 * USERS, dtype=np.int32), 2), np.tile(np.int32([3, 8]), 5 * USERS),
    5 * USERS, ITEMS,
)[0].users  # fmt: skip
ASKED = predictions.Requests(np.arange(USERS, dtype=np.int32), BOTH.users.start, BOTH.users.other)
PROFILES = predictions.Profiles(BOTH.users.start, BOTH.users.other, STAR, WEIGHT + 1.0)
# Half of the items lead to three of the other half each.
GRAPH = paths.Graph(
    3 * np.minimum(np.arange(ITEMS + 1), ITEMS // 2),
    np.sort(rng.integers(ITEMS // 2, ITEMS, (ITEMS // 2, 3)).astype(np.int32)).ravel(),
    rng.random(75), rng.random(75) + 1, rng.random(75),
    np.maximum(np.arange(ITEMS) - ITEMS // 2, -1).astype(np.int32),
)  # fmt: skip


def near(rows: int) -> predictions.Shared:
    codes = np.arange(4, dtype=np.int32) + np.arange(rows, dtype=np.int32)[:, None]
    circle = predictions.Circle(
        np.arange(rows, dtype=np.int32), codes % rows, np.ones((rows, 4)), np.zeros(rows), 1.0
    )
    return predictions.Shared(PROFILES, circle)


def swept() -> list[np.ndarray]:
    rows = X[0].copy()
    return [rows, *half_sweep(REPORTS, READINGS, CONDITIONAL, rows)]


def reported() -> list[np.ndarray]:
    counts, silent = np.zeros(USERS, np.int64), np.arange(USERS) % 5
    draw.count_reported(SYMBOLS, silent, counts)
    slots, symbols = np.empty(counts.sum(), np.int32), np.empty(counts.sum(), np.uint8)
    draw.take_reported(SYMBOLS, silent, np.cumsum(counts) - counts, slots, symbols)
    return [counts, slots, symbols]


def drawn() -> np.ndarray:
    symbols = np.empty(CELLS, np.uint8)
    words = np.random.default_rng(5).integers(0, 1 << 64, CELLS, np.uint64, endpoint=False)
    draw.draw_symbols(words, (COUNTS > 0).astype(np.uint8), TABLE, symbols)
    return symbols


def ranked() -> np.ndarray:
    known = np.arange(12, dtype=np.int32).reshape(4, 3)
    weights = np.random.default_rng(6).random((ITEMS, 5, 5))
    places = np.zeros((2, 4, 2), np.int32)
    linkage.known_places(
        np.arange(4, dtype=np.int32), known, known % 5, np.array([1, 3], np.int32),
        np.ascontiguousarray(SYMBOLS.T), weights, *places,
    )  # fmt: skip
    linked = np.zeros((2, USERS, 1), np.int32)
    everybody = np.arange(USERS, dtype=np.int32)
    linkage.task_places(everybody, SYMBOLS, np.ascontiguousarray(SYMBOLS.T), weights, *linked)
    return np.concatenate([places.ravel(), linked.ravel()])


def added() -> np.ndarray:
    scores = np.zeros((USERS, ITEMS), np.float32)
    rated = csr_array((SIGNED, BOTH.users.other, BOTH.users.start), (USERS, ITEMS))
    add_product(rated, LINKS, scores)
    return scores


KERNELS: dict[str, Callable[[], object]] = {
    "half-step": lambda: als.half_step(BOTH.users, PROBLEM),
    "grams": lambda: als.grams(BOTH.items, DOUBLES),
    "integer sums": lambda: als.integer_sums(BOTH.items, np.int64(9 * X[0]), COUNTS),
    "weighted sums": lambda: als.weighted_sums(
        BOTH.items, COUNTS.astype(np.int32), np.int32(9 * X[0])
    ),
    "row sums": lambda: row_sums(BOTH.users.start, BOTH.users.other, Y[0]),
    "product": added,
    "fold-in": lambda: foldin.fold_in_rows(BOTH.users, STAR, HOME),
    "folds": lambda: foldin.rows_without_fold(
        BOTH.users, STAR, Y[0].astype(float), np.ones(WIDTH + 1), 3
    ),
    "prior means": lambda: foldin.prior_means(DOUBLES, Y[0, :WIDTH].astype(float)),
    "predictions": lambda: predict.predict(*PAIRS, MU.astype(float), X, Y, STARS, 0.85),
    "medians": lambda: predict.median(X[:, :, 0].copy(), STARS, 0.85),
    "one draw": lambda: predict.bilinear(*PAIRS, 3.0, X[0], Y[0]),
    "top k": lambda: topk.top_k(np.tile(X[0], (5, 1)), Y[0], SEEN, 7),
    "best lists": lambda: topk.best_lists(lambda some: X[0][some] @ Y[0].T, BOTH.users, ITEMS, 7),
    "linked lists": lambda: linked_lists.linked_lists(
        BOTH.users, linked_lists.LinkedScores(LEVEL, X[0], Y[0], LINKS), 7
    ),
    "symbols": drawn,
    "reports": reported,
    "linkage": ranked,
    "projection": lambda: projected(BOTH.users, STAR, HOME, DOUBLES, COLUMNS, SEEDS),
    "lift": lambda: lifted(DOUBLES[:, 0].copy(), COLUMNS, SEEDS, (ITEMS, WIDTH)),
    "half-sweep": swept,
    "scales": lambda: gibbs_scales.drawn_spreads(REPORTS, READINGS, THETAS, GUMBELS),
    "weights": lambda: gibbs_scales.weight_sums(REPORTS, READINGS, MOVED, informed=True),
    "pairs": lambda: pairs(THINGS, WITNESSED),
    "paths": lambda: paths.reach(paths.Sources(np.arange(ITEMS, dtype=np.int32)), GRAPH),
    "by items": lambda: predictions.by_items(ASKED, near(ITEMS)),
    "by people": lambda: predictions.by_people(ASKED, near(USERS)),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", KERNELS)
def test_threads_change_no_digit(name: str, use_threads: Callable[[int], None]) -> None:
    found = []
    for threads in (1, 3):
        use_threads(threads)
        result = KERNELS[name]()
        found.append([np.asarray(part).tobytes() for part in arrays(result)])
    assert any(any(part) for part in found[0]), "a result is not all zeros"
    assert found[0] == found[1]


def arrays(result: object) -> tuple[object, ...] | list[object]:
    return result if isinstance(result, tuple | list) else (result,)


def test_each_piece_is_processed_once_and_by_a_thread_of_its_own() -> None:
    together, called = threading.Barrier(4, timeout=60), []

    def kernel(piece: int, factor: int) -> None:
        together.wait()
        called.append(piece * factor)

    kernels.in_threads(kernel, 4, 10)
    assert sorted(called) == [0, 10, 20, 30]


@pytest.mark.parametrize("failing", [0, 2])
def test_an_error_in_any_piece_is_raised(failing: int) -> None:
    def kernel(piece: int) -> None:
        if piece == failing:
            raise MemoryError

    with pytest.raises(MemoryError):
        kernels.in_threads(kernel, 3)


@pytest.mark.parametrize(("work", "threads"), [(0, 1), (4095, 1), (8192, 2), (10**9, 3)])
def test_each_thread_has_enough_work(
    work: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "get_num_threads", lambda: 3)
    assert kernels.thread_count(work) == threads


def test_pieces_are_all_rows_once() -> None:
    start = np.cumsum([0, 9000, 0, 10, 9000, 0, 20000])
    for ends in (
        kernels.even_pieces(start, 4),
        kernels.equal_pieces(6, 9000),
        kernels.thread_pieces(start),
    ):
        assert ends[0] == 0
        assert ends[-1] == 6
        assert (np.diff(ends) >= 0).all()
