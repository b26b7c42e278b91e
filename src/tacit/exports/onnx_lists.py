"""A list model as one ONNX graph: from a user's items to the top n, as on a device.

    score_j = popularity_j + sum over the user's items i of W_ij

Own and hidden items are excluded.

Inputs `items`, int64 (users, m): indices of each user's items, distinct, padded with -1; and `n`,
int64 (1,): the length of the list. Outputs `scores`, float64 (users, n), and `indices`, int64
(users, n), best first, equal scores by index. Ids of all items are a JSON array in the metadata
`items`. Weights are stored in half precision, as on devices, and summed in double precision.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import RequestError
from tacit.exports.published_arrays import Published, arrays_of
from tacit.wire.list_model import ListModel

OPSET, IR_VERSION = 18, 10
"""ONNX Runtime 1.18 and later run both."""


def onnx_of(model: Published) -> bytes:
    """Return the ONNX document of a list model.

    Raises `RequestError` without the package onnx, and for a model that is not a list model.
    """
    if not isinstance(model, ListModel):
        raise RequestError(
            "ONNX is for list models, such as ease, got a rating model. A device solves for its "
            "user's factors; export the item factors to parquet or safetensors."
        )
    graph = _Graph(len(model.items))
    arrays = arrays_of(model)
    graph.popularity(arrays["popularity"])
    if "vectors" in arrays:
        graph.low_rank(*(arrays[name] for name in LOW_RANK))
    if "neighbours" in arrays:
        graph.sparse_weights(arrays["neighbours"], arrays["weights"])
    elif "weights" in arrays:
        graph.dense_weights(arrays["weights"])
    metadata = {"items": json.dumps(list(model.items)), "guarantee": model.guarantee.sentence}
    return graph.document(model.hidden, metadata)


LOW_RANK = ("own_scale", "score_scale", "spectrum", "vectors")


class _Graph:
    """Nodes and constants in the making, for `n` items.

    `owned` is 1 at each user's items, and `scores` the sum so far, both (users, items).
    """

    def __init__(self, n: int) -> None:
        try:
            import onnx
        except ImportError:
            raise RequestError(
                "The package onnx is not installed. Run pip install 'tacit-recommender[export]'."
            ) from None
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._n = n
        self._known = self._node("Greater", "items", self._constant(np.int64(-1)))
        self._safe = self._node("Where", self._known, "items", self._constant(np.int64(0)))
        self._weight = self._node("Cast", self._known, to=onnx.TensorProto.DOUBLE)
        first = self._constant(np.array([0])), self._constant(np.array([1]))
        users = self._node("Slice", self._node("Shape", "items"), *first)
        self._shape = self._node("Concat", users, self._constant(np.array([n])), axis=0)
        self._owned = self._node(
            "ScatterElements", self._zeros(), self._safe, self._weight, axis=1, reduction="max"
        )
        self._scores = self._zeros()

    def popularity(self, popularity: NDArray[np.float32]) -> None:
        """Add the popularity of each item."""
        self._add(self._doubled(popularity[None]))

    def low_rank(self, left: Any, right: Any, spectrum: Any, vectors: Any) -> None:
        """Add owned diag(left) V diag(spectrum) V' diag(right)."""
        V = self._doubled(vectors)
        taste = self._node("MatMul", self._owned, self._node("Mul", V, self._column(left)))
        taste = self._node("Mul", taste, self._doubled(spectrum[None]))
        scored = self._node("Mul", V, self._column(right))
        self._add(self._node("MatMul", taste, self._node("Transpose", scored, perm=[1, 0])))

    def dense_weights(self, weights: NDArray[np.float16]) -> None:
        """Add owned S for dense S."""
        self._add(self._node("MatMul", self._owned, self._doubled(weights)))

    def sparse_weights(self, neighbours: NDArray[np.int32], weights: NDArray[np.float16]) -> None:
        """Add owned S, S with the same number of weights in each row."""
        indices = self._node("Gather", self._constant(neighbours), self._safe, axis=0)
        values = self._node("Gather", self._constant(weights), self._safe, axis=0)
        values = self._node("Cast", values, to=self._onnx.TensorProto.DOUBLE)
        one = self._constant(np.array([2]))
        values = self._node("Mul", values, self._node("Unsqueeze", self._weight, one))
        flat = self._constant(np.array([0, -1]))
        indices, values = (self._node("Reshape", each, flat) for each in (indices, values))
        inputs = self._zeros(), indices, values
        self._add(self._node("ScatterElements", *inputs, axis=1, reduction="add"))

    def document(self, hidden: Sequence[int], metadata: dict[str, str]) -> bytes:
        """Exclude own and `hidden` items, rank, and return the serialized model."""
        double, integer = self._onnx.TensorProto.DOUBLE, self._onnx.TensorProto.INT64
        excluded = self._node("Cast", self._owned, to=self._onnx.TensorProto.BOOL)
        if hidden:
            mask = np.isin(np.arange(self._n), hidden)[None]
            excluded = self._node("Or", excluded, self._constant(mask))
        ranked = self._node("Where", excluded, self._constant(np.float64(-np.inf)), self._scores)
        helper, info = self._onnx.helper, self._onnx.helper.make_tensor_value_info
        outputs = ["scores", "indices"]
        self._nodes.append(helper.make_node("TopK", [ranked, "n"], outputs, axis=1))
        graph = helper.make_graph(
            self._nodes,
            "top-n",
            [info("items", integer, ["users", "m"]), info("n", integer, [1])],
            [info("scores", double, ["users", "k"]), info("indices", integer, ["users", "k"])],
            initializer=self._constants,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION
        )
        helper.set_model_props(model, metadata)
        # Its hint `PathLike` lacks an argument.
        self._onnx.checker.check_model(model, full_check=True)  # pyright: ignore[reportUnknownMemberType]
        return model.SerializeToString()

    def _zeros(self) -> str:
        return self._node("Expand", self._constant(np.zeros((1, 1))), self._shape)

    def _add(self, part: str) -> None:
        self._scores = self._node("Add", self._scores, part)

    def _doubled(self, array: NDArray[Any]) -> str:
        """Return a constant that is stored as it is, and computed with in double precision."""
        return self._node("Cast", self._constant(array), to=self._onnx.TensorProto.DOUBLE)

    def _column(self, vector: NDArray[Any]) -> str:
        return self._doubled(vector[:, None])

    def _constant(self, array: Any) -> str:
        name = f"constant{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def _node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"value{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name
