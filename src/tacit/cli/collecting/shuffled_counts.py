"""`tacit shuffled count` and `fit`: open a batch, count its messages, and fit models to counts."""

import time
from pathlib import Path
from typing import Annotated

import typer

from tacit.cli import options
from tacit.errors import RequestError

KeyFile = Annotated[
    Path, typer.Option(help="File of the task's private key. Required.", show_default=False)
]


def count(
    task: Annotated[Path, typer.Argument(help="The shuffled task, whose batch is closed.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The file of counts to write.")],
    key: KeyFile,
    token: Annotated[
        str | None,
        typer.Option(help="The provider's token at the shuffler.", envvar="TACIT_TOKEN"),
    ] = None,
    batch: Annotated[
        Path | None,
        typer.Option(help="The batch, if it was downloaded already. [download it]"),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            help="With --batch, the signed tokens of the batch, if the task has a signer."
        ),
    ] = None,
    processes: Annotated[
        int, typer.Option(min=1, help="Number of processes that open it on this machine.")
    ] = 1,
    engine: options.Engine = "local",
    master: options.Master = None,
) -> None:
    """Open the batch of a shuffled task, and count its messages.

    The batch is downloaded from the shuffler, and compared with its public register. It is
    available some seconds after the closing, when its bundles are deleted. If the task has a
    signer, a batch with fewer signed tokens than the task's least number of bundles is not opened.
    Copies of a message are counted once. When the counts are on disk, the key file is overwritten
    and deleted, and the batch is deleted at the shuffler. Nothing can be opened afterwards. After a
    crash, the same command continues: it deletes what the counts on disk have made obsolete.

    Opening takes about 70 microseconds of CPU time per message. With --processes or Spark, ranges
    of the batch are opened at the same time. Spark's workers must be able to read the batch, which
    is next to --output, and the key.

    Examples:

        tacit shuffled count films.json --key films.key --processes 4 -o films-counts.json

        tacit shuffled count films.json --key /shared/films.key --engine spark
        --master spark://host:7077 -o /shared/films-counts.json
    """
    from tacit.atomic_files import write_atomically
    from tacit.cli.engines import counting
    from tacit.collection.shuffled.counts import counts_of
    from tacit.results.records import writable
    from tacit.shuffler.batch_files import TOKENS
    from tacit.shuffler.decryption import open_batch
    from tacit.shuffler.session import ShufflerSession
    from tacit.shuffler.task_key import destroy, require_key
    from tacit.wire.shuffled.task import loads

    downloaded = output.with_name(output.name + ".batch")
    downloads = () if batch else (downloaded, downloaded.with_suffix(TOKENS))
    writable(output, *downloads, read=(task, key, batch, tokens))
    with counting(engine, master, processes) as chosen:
        document = loads(task.read_bytes())
        counts = counts_of(document, output)
        if counts is None or key.exists():
            require_key(key, document.key)
        session, content, signed = None, batch, tokens
        if content is None:
            if token is None:
                raise RequestError(
                    "--token is required to download the batch, or --batch to read it."
                )
            content = downloaded
            signed = content.with_suffix(TOKENS)
            session = ShufflerSession(document, token)
        if counts is None:
            if session is not None:
                session.download(content, session.closing().batch)
                if document.signer is not None:
                    session.download_tokens(content.with_suffix(TOKENS))
            counts = open_batch(content, document, key, chosen, tokens=signed)
            write_atomically(output, counts.document)
    if key.exists():
        destroy(key, document.key)
    if session is not None:
        for each in (content, content.with_suffix(TOKENS)):
            each.unlink(missing_ok=True)
        session.delete()
    options.notice(
        f"{output}: {counts.bundles:,} bundles, {int(counts.counts.sum()):,} messages. "
        f"{key} is destroyed."
    )


def fit(
    counts: Annotated[
        list[Path], typer.Argument(help="Counts of the task about items, then those about pairs.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The model file to write.")],
    publish: Annotated[
        Path | None,
        typer.Option(help="Folder of a collector's published models, from which devices fetch it."),
    ] = None,
) -> None:
    """Fit a model to the counts of shuffled messages, and write it with its guarantee.

    From one file, the model is popularity. From two, it is EASE, as `shuffled-ease`. For star
    ratings, it is `shuffled-item-mean` or `shuffled-covariance`. With --publish, devices fetch it
    from the provider's collector after their next sync. No report is held out, so it is not
    compared with popularity.

    Example: tacit shuffled fit films-counts.json pairs-counts.json --publish models -o model
    """
    from tacit.atomic_files import write_atomically
    from tacit.collection.shuffled.counts import load_counts
    from tacit.collector.storage.publications import Publication
    from tacit.collector.storage.published_models import PublishedModels
    from tacit.models import item_model, list_model
    from tacit.models.fitted import Fitted
    from tacit.results.records import writable
    from tacit.training.shuffled.collected import fit_counts

    if len(counts) > 2:
        raise RequestError(f"COUNTS must be one or two files, got {len(counts)}.")
    writable(output, read=tuple(counts))
    loaded = [load_counts(path) for path in counts]
    fitted = fit_counts(*loaded)
    learnt = item_model(fitted) if isinstance(fitted, Fitted) else list_model(fitted)
    write_atomically(output, learnt.to_bytes())
    options.notice(f"{output}: {fitted.model}. {fitted.guarantee.sentence}")
    if publish is not None:
        folder, bundles = PublishedModels(publish), sum(each.bundles for each in loaded)
        record = Publication(model="", at=time.time(), learner=fitted.model, reports=bundles)
        (address,) = {folder.publish(each.task.address, learnt, record) for each in loaded}
        options.notice(f"Published in {publish} as {address}.")
