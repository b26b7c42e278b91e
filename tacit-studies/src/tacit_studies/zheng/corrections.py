"""Errors of Zheng: what is printed, what is correct, and what decides it."""

from tacit_studies.claim import Correction

CORRECTIONS = (
    Correction(
        "epsilon >= 0",
        "noise of scale 2 / epsilon needs epsilon > 0; randomized response at 0 is the uniform law",
        "modified Laplace refuses 0; randomized response takes it, and no model learns from it",
        "tests/channels/test_members.py test_randomized_response_at_epsilon_0_is_the_uniform_law",
    ),
    Correction(
        "n items cost n times epsilon",
        "true, and tight. Epsilon is per slot; with at most s ratings per person, randomized "
        "response costs min(n, 2 s) times epsilon and modified Laplace 1.5 s times",
        "`unit` is `slot`; `user_guarantee` is the sum",
        "tests/privacy/test_profiles.py test_the_constants_of_zhengs_mechanisms",
    ),
    Correction(
        "1 * ? = ?, 0 * ? = 0",
        "a notation for four cases, not arithmetic: zero times not-a-number is not zero",
        "four cases in one table",
        "tests/channels/test_missing.py test_modified_laplace_is_the_four_cases_of_its_definition",
    ),
    Correction(
        "outputs lie in [-1, 1]",
        'on the whole line, and "missing"',
        "a public grid, far intervals merged",
        "tests/channels/test_missing.py "
        "test_modified_laplace_cells_are_not_too_rare_and_hold_the_middle",
    ),
    Correction(
        "the noise keeps the space of ratings",
        "modified Laplace leaves it; randomized response keeps it",
        'levels and "missing" are the only symbols',
        "tests/channels/test_missing.py test_randomized_response_is_definition_3",
    ),
    Correction(
        "no figures",
        "at epsilon 1 per slot, on data as dense as MovieLens 100K, one report in twelve that "
        "shows a rating comes from a rating (randomized response)",
        "stated before it is offered",
        "tests/collection/test_slots.py test_frequencies_are_the_tables_rated_or_not",
    ),
    Correction(
        "rho is given",
        "it needs s, the number of ratings, which is private",
        "lambda from held-out reports",
        "tests/models/test_completion.py test_lambda_is_chosen_where_held_out_reports_are_met_best",
    ),
    Correction(
        "E (Theta - Z)^2 of a false answer is (L - 1)^2",
        "at most that, and for Theta on the scale",
        "the bound stands",
        "theorem-3",
    ),
    Correction(
        "the sampling of entries is a restricted isometry, hence (5)",
        "it is not: a Theta that is zero except for one entry not reported is completed by "
        "zeros, at rho = 0. Incoherence and even sampling are needed",
        "no such claim is made",
        "theorem-3",
    ),
    Correction(
        "Markov's inequality twice, sqrt(s) + sqrt(m n - s) taken for 2 sqrt(m n)",
        "sqrt(2 m n) would do",
        "the paper's bound, described as loose",
        "theorem-3",
    ),
    Correction(
        'privacy against a curator is "meaningless"',
        "it is another promise: nobody but the curator learns a rating from what is published",
        "both, and every row says who is trusted",
        "tests/training/test_dpals.py test_the_promise_is_said_in_full",
    ),
)
