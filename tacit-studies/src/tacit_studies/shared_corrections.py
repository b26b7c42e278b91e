"""Errors of all four papers: what is printed, what is correct, and what decides it."""

from tacit_studies.claim import Correction

SHARED_CORRECTIONS = (
    Correction(
        "noise is a real number, drawn as a double",
        "the low bits of a double tell what it was added to",
        "whole numbers throughout: a table and one word of the operating system a report",
        "tests/channels/test_draw.py test_every_16_bit_word_gives_its_symbol",
    ),
    Correction(
        "nobody is asked twice",
        "a fresh answer about the same rating costs epsilon again, and answers average out",
        "a device answers once, keeps the answer and repeats it",
        "tests/device/test_answering.py test_averaging_gains_nothing",
    ),
    Correction(
        "the ends of the scale are those of the data",
        "the least and the largest rating are somebody's",
        "a public scale; what is off it is refused before anything is drawn",
        "tests/device/test_answering.py test_off_the_scale_is_refused_before_the_draw",
    ),
)
