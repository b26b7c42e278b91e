"""Errors of Guerraoui et al.: what is printed, what is correct, and what decides it."""

from tacit_studies.claim import Correction

CORRECTIONS = (
    Correction(
        "Theorem 1: a replacement is epsilon-private",
        "for a *fixed* set of candidates. A meta-path may exist through only one person, and "
        "then so does a candidate",
        "faithful: marked as failing; strict: no candidate set",
        "theorem-1",
    ),
    Correction(
        "epsilon is a person's",
        "each source item's draw is a release: a map of n items costs n epsilon",
        "the guarantee counts what was drawn",
        "tests/experiments/test_trials.py test_both_budgets_of_x_map_are_named",
    ),
    Correction(
        "Theorem 2: one person changes s(i, j) by SS(i, j)",
        "not if the person rated one of the two, nor if products of centred ratings are "
        "negative; SS itself may be negative",
        "`moved` checks a pair; SS is made positive, at least 10^-6, and is GS = 2 where |r'| is 0 "
        "and SS tends to infinity",
        "theorems",
    ),
    Correction(
        "PNSA is epsilon' / 2-private",
        "SS, Sim_k and w all change with the ratings: a local sensitivity protects nothing",
        "marked",
        "tests/crossdomain/test_published.py "
        "test_the_published_sensitivity_is_the_printed_one_made_positive",
    ),
    Correction(
        "Theorems 3 and 4: drawn neighbours are about the nearest",
        "the proofs have one SS, the algorithm one per pair: a pair with a tiny SS beats any "
        "similarity. And w is nearly always all of Sim_k",
        "`neighbours_drawn` checks a row",
        "tests/studies/test_x_map_bounds.py test_with_sensitivity_per_pair_least_alike_is_first",
    ),
    Correction(
        "Theorem 3: w = min(Sim_k, 4 k SS / epsilon') ln(k (v - k) / rho)",
        "the logarithm belongs inside the minimum, as its proof and Theorem 4 have it",
        "inside",
        "tests/crossdomain/test_published.py test_truncation_as_printed",
    ),
    Correction(
        'w = min(Sim_k, ..), so that "Sim_k - w >= -1" for correlations',
        "that bound is the one for cosines, Sim_k - w >= 0. For values from -1 it would be "
        "min(Sim_k + 1, ..); and where Sim_k < 0, w is Sim_k, and every candidate counts as 0 "
        "at least, above Sim_k itself",
        "as printed",
        "tests/crossdomain/test_published.py test_truncation_as_printed",
    ),
    Correction(
        "PNCF is epsilon' / 2-private",
        "each of k similarities spends it, for each target item",
        "counted",
        "tests/crossdomain/test_published.py test_noise_on_similarities_has_the_printed_scale",
    ),
    Correction(
        "what the user-based form predicts is private",
        "neighbours' raw ratings are in it. With k = 1 the noisy weight cancels except for its "
        "sign: r_A +- (r_Bi - r_B), whatever was drawn",
        "a test shows it",
        "tests/crossdomain/test_recommender.py test_one_noisy_neighbour_gives_their_rating_away",
    ),
    Correction(
        "GS = 2, and useful choices",
        "odds of best over worst are e^(epsilon / 2): 1.35 at .6. That is nearly uniform",
        "measured",
        "tests/crossdomain/test_published.py test_the_odds_of_the_best_replacement_over_the_worst",
    ),
    Correction(
        "item means, similarities and layers",
        "raw",
        "strict: one noisy release, the rest follows from it",
        "tests/crossdomain/test_strict.py test_a_raw_count_of_links_is_found",
    ),
    Correction(
        "the authors' code",
        "it departs from the paper in eleven places",
        "written from the paper alone, and equal to brute force over it",
        "tests/crossdomain/test_x_map_as_printed.py "
        "test_edges_and_x_sims_are_those_of_the_formulas",
    ),
    Correction(
        "a draft counts data that cannot be, and its figures disagree",
        "the authors' report has the figures that are compared",
        "one command from the file to the errors",
        "genres",
    ),
)
