"""Item vectors of a published model, for a vector index: one row per item.

A rating model of D draws predicts, before the link and the bounds of the scale,

    mean over d of mu_d + x_d0 + item_bias_di + x_d . item_factors_di = constant + b_i + x . v_i,

with b_i the mean bias, v_i all item factors of a row divided by D, and x the user's factors of all
draws in a row. A list model of low rank scores

    popularity_j + (sum over the user's items i of l_i) . r_j.

An index over v or r by inner product thus ranks as the model does, with b or the popularity as one
more coordinate that is 1 in every query. Items that no device recommends are marked `hidden`.
"""

import numpy as np
import polars as pl

from tacit.errors import RequestError
from tacit.exports.published_arrays import Arrays, Published, arrays_of
from tacit.wire.item_model import ItemModel


def item_vectors(model: Published) -> pl.DataFrame:
    """Return the vectors of all items of a published model.

    Returns
    -------
    polars.DataFrame
        Columns `item` (raw id), `hidden`, and for a rating model `bias` and `vector`, for a list
        model `popularity`, `own_vector` and `score_vector`. Vectors are arrays of float32.

    Raises
    ------
    RequestError
        For a list model without low-rank weights, which has no vectors.
    """
    arrays, n = arrays_of(model), len(model.items)
    columns = _of_ratings(arrays) if isinstance(model, ItemModel) else _of_lists(arrays)
    hidden = np.isin(np.arange(n), model.hidden)
    return pl.DataFrame({"item": list(model.items), "hidden": hidden} | columns)


def _of_ratings(arrays: Arrays) -> dict[str, pl.Series]:
    factors, bias = arrays["item_factors"], arrays["item_bias"]
    draws, n, K = factors.shape
    rows = factors.transpose(1, 0, 2).reshape(n, draws * K) / draws
    return {"bias": pl.Series(bias.mean(0)), "vector": _vectors(rows)}


def _of_lists(arrays: Arrays) -> dict[str, pl.Series]:
    if "vectors" not in arrays or "weights" in arrays:
        raise RequestError(
            "The list model has weights between items and no factors, so that it has no item "
            "vectors; export it to onnx or safetensors, or fit graph-filter."
        )
    vectors = arrays["vectors"].astype(np.float32)
    left = arrays["own_scale"][:, None] * vectors * arrays["spectrum"]
    return {
        "popularity": pl.Series(arrays["popularity"]),
        "own_vector": _vectors(left),
        "score_vector": _vectors(arrays["score_scale"][:, None] * vectors),
    }


def _vectors(rows: np.ndarray) -> pl.Series:
    return pl.Series(rows.astype(np.float32), dtype=pl.Array(pl.Float32, rows.shape[1]))
