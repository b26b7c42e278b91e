"""Errors of Neera et al.: what is printed, what is correct, and what decides it."""

from tacit_studies.claim import Correction

CORRECTIONS = (
    Correction(
        'Algorithm 1 draws with "variance b"',
        "b is the *scale*; the variance is 2 b^2",
        "`spread` is the scale",
        "tests/channels/test_laplace.py test_laws_agree_with_their_densities",
    ),
    Correction(
        'Theorem 1: b >= Df / (epsilon - ln DC), "cannot inherit the Laplace scale"',
        "DC depends on b: b is on both sides. With Df = u - l, which is what the paper uses, DC "
        "= 1 and b = (u - l) / epsilon is just the Laplace scale. Below the range it is not",
        "solved by bisection; the table proves what it claims",
        "tests/channels/test_laplace.py test_smaller_sensitivity_needs_the_fixed_point",
    ),
    Correction(
        "the proof of Theorem 1 compares masses of the whole interval, which are 1",
        "the ratio of densities has to be bounded point by point; the result stands",
        "the certificate compares integers, column by column",
        "tests/channels/test_certificate.py test_one_unit_too_many_is_refused",
    ),
    Correction(
        "Algorithm 1 accepts the open interval and draws until it fits",
        "the law is the truncated one; how long it takes depends on the secret",
        "one 64-bit word per report, no rejection",
        "tests/channels/test_draw.py test_every_16_bit_word_gives_its_symbol",
    ),
    Correction(
        "(4), (5): no b in the exponents, a 1/b too many, the second grows where it must fall",
        "the integrand is exp(-\\|n\\| / b) over n; see below",
        "`noise_law`",
        "tests/channels/test_laplace.py test_corrected_equations_four_and_five",
    ),
    Correction(
        "(5) starts at t = 2",
        "it must start at 1, or the noise in [(h - 2) c, (h - 1) c) is lost",
        "it sums to 1",
        "tests/channels/test_laplace.py test_noise_histogram_of_bounded_laplace",
    ),
    Correction(
        "the likelihood has a product over components",
        "a sum; their (6) is right",
        "a sum",
        "tests/models/test_mog_mf.py "
        "test_every_step_raises_the_likelihood_until_it_finds_the_mixture",
    ),
    Correction(
        "w has a square root, and stands outside the square",
        "no root there, or the step is not one of EM and the likelihood may fall",
        "no root; `sqrt_weights` keeps the printed one",
        "tests/models/test_mog_mf.py test_weights_without_the_root_bound_the_likelihood_from_below",
    ),
    Correction(
        "noise of mean zero, whatever the rating",
        "it is pulled towards the middle of the scale, and depends on the rating",
        "`channel-mf` reads the table",
        "tests/channels/test_laplace.py test_bounded_means_are_pulled_to_the_middle",
    ),
    Correction(
        "compared with methods whose epsilon covers a profile (Figures 5 and 6)",
        "here epsilon covers one value",
        "`unit` in every row; drawn on both axes below",
        "figures-5-6",
    ),
    Correction(
        "MovieLens 100K on 0.5 to 5",
        "943 people and 1,682 items are the release with 1 to 5",
        "the data's own public scale",
        "tests/readers/test_read.py test_movielens_in_every_dress",
    ),
    Correction(
        "one bit a rating",
        "a real number is not a bit",
        "a symbol's number, 6 bits for 64 symbols; see Table 4 "
        "[below](shin.md#figures-5-and-6-of-neera-et-al)",
        "table-4",
    ),
    Correction(
        "a recommender that is epsilon-private",
        "the *values* of ratings are; which items somebody rated is sent in clear",
        "unit `value`; the plans `catalogue` and `sample:K` protect presence, too",
        "tests/collection/test_slots.py test_rated_promises_no_person_anything",
    ),
    Correction(
        "bounded noise tells more than clamped noise",
        "less: about half as much at epsilon 1 and below. Its small errors are the pull to the "
        "middle",
        "information and signal to noise of every channel in `tacit channel show`",
        "tests/channels/test_members.py test_signal_to_noise",
    ),
    Correction(
        "ridge, K, components and the end of EM are not stated",
        "results depend on them",
        "`PRINTED`, and ours by name",
        "tests/models/test_without_ridge.py test_the_printed_form_starts_at_random_and_learns",
    ),
)
