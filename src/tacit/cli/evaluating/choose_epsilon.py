"""`tacit choose-epsilon`: the trade-off of privacy and accuracy, on public or private data."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tacit.cli import options, plugins
from tacit.cli.options import Columns, Format, Rounding, Scale
from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.results.choice.report import Criteria
    from tacit.results.choice.tradeoff import Tradeoff

GRID = "0.1,0.2,0.5,1,2,3,4,6,8"


def choose_epsilon(
    data: Annotated[
        Path | None, typer.Argument(help="Public ratings similar to yours. [synthetic ratings]")
    ] = None,
    channel: Annotated[
        str,
        typer.Option(help="The channel. Trainers do not use one.", autocompletion=plugins.CHANNEL),
    ] = "auto",
    model: Annotated[
        str, typer.Option(help="The model or trainer.", autocompletion=plugins.MODEL)
    ] = "channel-mf",
    where: Annotated[
        str | None,
        typer.Option(
            help="Where predictions are made: provider, device or curator. [the last that the "
            "model supports; provider with --private]"
        ),
    ] = None,
    epsilon: Annotated[
        str, typer.Option(help="Candidate epsilons in nats, comma-separated.")
    ] = GRID,
    weight: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="Weight of privacy strength P. Accuracy loss A gets the remaining weight.",
        ),
    ] = 0.5,
    most_loss: Annotated[
        float, typer.Option(min=0, max=1, help="Largest acceptable accuracy loss A.")
    ] = 0.5,
    least_strength: Annotated[
        float, typer.Option(min=0, max=1, help="Smallest acceptable privacy strength P.")
    ] = 0.1,
    seeds: Annotated[int, typer.Option(help="Number of repetitions, with splits 0, 1, ..")] = 1,
    private: Annotated[
        bool,
        typer.Option(
            "--private",
            help="DATA is private: add noise to every query and report the privacy cost.",
        ),
    ] = False,
    figure: Annotated[
        Path | None, typer.Option(help="Plot the trade-off to this file (SVG).")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report to this file (HTML).")] = None,
    format: Format = None,
    scale: Scale = None,
    columns: Columns = None,
    rounding: Rounding = None,
) -> None:
    """Choose epsilon: trade privacy strength for accuracy.

    Privacy strength is P = 2 / (1 + e^epsilon), and A is the accuracy loss. The command prints an
    acceptable interval of epsilon. It evaluates the data without any privacy, so the data must be
    public or synthetic. Without DATA, it uses built-in synthetic ratings. With --private, every
    query of the data is noisy, and the total privacy cost is printed. Predictions are then made at
    the provider, and --scale is required.

    Examples:

        tacit choose-epsilon --model channel-mf --figure tradeoff.svg

        tacit choose-epsilon ml-100k.zip --most-loss 0.4 --least-strength 0.05
    """
    if private and data is None:
        raise RequestError(
            "--private requires DATA, because the built-in data are synthetic. "
            "Pass your data, or leave out --private."
        )
    if private and scale is None:
        raise RequestError(
            "--private requires --scale, as in --scale 1:5:1: inferring the scale would query the "
            "ratings without accounting for the privacy cost."
        )
    from tacit.results.records import writable

    writable(figure, report, read=(data,))

    from tacit.cli.evaluating.execution import execute
    from tacit.collection.named_plans import check_channels
    from tacit.experiments.choice.private_choice import PROVIDER, PrivateChoice, check_place
    from tacit.experiments.choice.trial import choosing, require_several, trial
    from tacit.experiments.comparison.compare import experiment
    from tacit.experiments.comparison.request import epsilon_texts
    from tacit.learners.learner import learner
    from tacit.metrics.split import SplitProtocol
    from tacit.readers import synthetic
    from tacit.reporting.page import Provenance
    from tacit.results.choice.report import Criteria
    from tacit.results.choice.tradeoff import WITHOUT_NOISE, tradeoff

    grid, protocol = epsilon_texts(epsilon), SplitProtocol(seeds=seeds)
    require_several(grid)
    check_channels([channel], "rated")
    known = learner(model)
    if not known.predicts:
        raise RequestError(
            f"{model} ranks items without predicting ratings, but epsilon is chosen by RMSE. Use "
            "`tacit compare`."
        )
    if private:
        check_place(model, known.where, where or PROVIDER)
    elif data is not None:
        options.notice(f"The true ratings in {data} are evaluated without any privacy.")
    if known.is_trainer and not private:
        options.notice(
            f"{model} without privacy is approximated by {model} at epsilon {WITHOUT_NOISE}."
        )
    ratings = options.load(data, format, scale, columns, rounding) if data else synthetic()
    criteria = Criteria(weight=weight, most_loss=most_loss, least_strength=least_strength)
    run = Provenance.of(ratings, options.typed(), protected=private)
    if private:
        choice = PrivateChoice(channel=channel, model=model, epsilons=grid, protocol=protocol)
        of_rows = partial(choice.tradeoff, scale=ratings.scale)
        declared = choosing(choice.experiment(ratings), of_rows, criteria, run)
        options.notice(f"Privacy cost of choosing epsilon: {choice.guarantee(ratings).sentence}")
    else:
        of_rows = partial(tradeoff, where=where or known.where[-1])
        trials = experiment(trial(known, channel, grid, protocol), ratings)
        declared = choosing(trials, of_rows, criteria, run)
    rows = execute(declared, None, report)
    if figure is not None:
        _draw(of_rows(rows), criteria, figure)


def _draw(result: "Tradeoff", criteria: "Criteria", path: Path) -> None:
    from tacit.atomic_files import write_atomically
    from tacit.reporting.plot import svg
    from tacit.results.choice.report import figure

    write_atomically(path, svg(figure(result, criteria.limits)).encode())
