"""Errors of Xian et al. and of its baselines: what is printed and correct, and what decides it."""

from tacit_studies.claim import Correction

CORRECTIONS = (
    Correction(
        'mu, b_i, b_u (and y) from raw ratings, "to ensure availability"',
        "given all others, a bias determines a rating: no finite epsilon",
        "faithful: as printed, and the claim is marked; strict: released with noise first",
        "tests/training/test_xian.py test_the_replay_finds_what_is_raw",
    ),
    Correction(
        'neighbours differ in "one score", or "one record of a user"',
        "three different units",
        "`value` for these methods; `dpals` for a person",
        "tests/training/test_registry.py test_every_claim_about_a_training_holds",
    ),
    Correction(
        "which items each user rated is fixed",
        "adding a rating changes N(u), its root, and every count",
        "public by assumption at `value`, and stated",
        "tests/training/test_private_svd.py test_presence_is_public_and_is_said_to_be",
    ),
    Correction(
        "Algorithm 2 after Chaudhuri et al.",
        "needs derivatives of at most 1 and rows of at most norm 1; the squared loss has up to "
        "2 Dr. The loss is epsilon' Dr q_max, up to 4 times the claim",
        "strict: rows held, beta = epsilon_s / (2 q_max Dr), and no epsilon' or Delta is needed",
        "tests/training/test_xian.py "
        "test_the_true_loss_of_algorithm_2_is_up_to_four_times_its_claim",
    ),
    Correction(
        "Algorithm 2's n is the number of all ratings",
        "a row's problem has n_u ratings, and Chaudhuri et al. mean those",
        'as printed; `count="own"` is the other',
        "tests/training/test_xian.py test_the_n_of_algorithm_2_is_that_of_all_ratings_unless_asked",
    ),
    Correction(
        "y from formula (4), beside b_u and b_i, and updates of p and q alone",
        "what formula (4) has for y is lost",
        '`y="mean"`, a raw mean for each item; `y="descent"` is Koren\'s, and the default',
        "tests/training/test_xian.py test_y_may_be_a_raw_mean_of_what_is_left",
    ),
    Correction(
        "norms of q are not bounded",
        "then nothing bounds the sensitivity",
        "strict: both sides snapped to a grid within norm 1",
        "tests/training/test_private_svd.py test_planted_faults_are_found",
    ),
    Correction(
        "Corollary 6: sensitivity Dr q_max / lambda",
        "Dr t / (lambda + t^2), t = min(q_max, sqrt lambda), is enough, and attained",
        "`ridge_sensitivity`",
        "tests/training/test_xian.py "
        "test_the_printed_sensitivity_is_enough_and_more_than_is_needed",
    ),
    Correction(
        "the error is clipped after noise, with Dr for its range",
        "right: what is clipped later does not count",
        "residuals are clipped before, so the range is half",
        "tests/training/test_private_svd.py "
        "test_a_changed_value_moves_no_release_by_more_than_declared",
    ),
    Correction(
        "the budget of one solve is not stated",
        "a rating enters one solve of each side per sweep",
        "epsilon / 2 k",
        "tests/training/test_xian.py test_budgets_are_split_downwards",
    ),
    Correction(
        "lambdas by cross-validation on the ratings",
        "costs epsilon",
        "public constants",
        "tests/training/test_private_svd.py test_stopping_by_the_data_is_found",
    ),
    Correction(
        'Theorem 7: neighbours differ in the "last entry"',
        "any value within the range will do",
        "`value`, wherever it stands",
        "tests/training/test_private_svd.py test_a_hundred_changed_values",
    ),
    Correction(
        "the theorems are about exact minimizers",
        "descent stops before one is reached",
        "each row is the exact solution of a ridge regression",
        "tests/training/test_xian.py test_a_solve_is_a_ridge_regression",
    ),
    Correction(
        "Hua et al. (2015), a baseline of others: noise is drawn once, shared and used again",
        "what is used twice cancels in a difference",
        "not offered; each release draws afresh",
        "tests/training/test_noisy_releases.py test_each_draw_is_fresh",
    ),
    Correction(
        "the code of Chien et al. accounts for the mean",
        "it is a release like any other",
        "counted in the one budget; see [its page](chien.md)",
        "tests/training/test_accounting.py test_the_published_accounting_of_five_steps",
    ),
)
