"""Vector operations that compilers do not generate from plain loops over arrays.

A compiler must assume that arrays overlap, so in a plain loop every partial sum is stored to
memory. Here the sums are LLVM vectors and stay in registers for the complete loop. Arrays are
two-dimensional, C-contiguous and of one floating type. Indices are not checked, and whole vectors
are read and written, so rows must be padded to a multiple of `LANES`.
"""

from collections.abc import Callable
from typing import Any

import llvmlite.ir  # pyright: ignore[reportMissingTypeStubs]
import numba.core.cgutils
from numba import types
from numba.extending import intrinsic

# Memory prefetching in compiled loops with irregular access.

ir: Any = llvmlite.ir  # states no types


def _prefetch(typing: Any, array: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        at = builder.bitcast(builder.gep(data, [args[1]]), byte)
        builder.call(
            ask, [at, number(0), number(3), number(1)]
        )  # read access, high locality, data cache
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


prefetch: Callable[..., None] = intrinsic(_prefetch)
"""`prefetch(array, place)`: prefetch array[place]. Any index is allowed, as nothing is read."""


LANES = 16  # float32 values of a 512-bit register; the compiler splits them elsewhere

cgutils: Any = numba.core.cgutils


def tile(high: int, wide: int) -> Callable[..., None]:
    """Return the operation `add(out, k, j, sign, left, i, right, c, n)`:

    out[k : k + high, j : j + LANES wide] +=
        sign left[:n, i : i + high]' right[:n, c : c + LANES wide].
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        out, left, right = (_View(context, builder, signature, args, at) for at in (0, 4, 6))
        _, k, j, sign, _, i, _, first, n = args
        zero = ir.Constant(ir.VectorType(sign.type, LANES), None)
        cells = [(r, c) for r in range(high) for c in range(wide)]
        sums = {cell: cgutils.alloca_once_value(builder, zero) for cell in cells}
        with cgutils.for_range(builder, n) as loop:
            x = [_splat(builder, left.number(loop.index, i, r)) for r in range(high)]
            y = [right.vector(loop.index, first, c) for c in range(wide)]
            for (r, c), address in sums.items():
                total = _multiply_add(builder, x[r], y[c], builder.load(address))
                builder.store(total, address)
        factor = _splat(builder, sign)
        for (r, c), address in sums.items():
            row = builder.add(k, k.type(r))
            total = _multiply_add(builder, factor, builder.load(address), out.vector(row, j, c))
            out.store(total, row, j, c)
        return context.get_dummy_value()

    def add(
        typing: Any, out: Any, k: Any, j: Any, sign: Any,
        left: Any, i: Any, right: Any, c: Any, n: Any,
    ) -> Any:  # fmt: skip
        at = types.intp
        return types.void(out, at, at, out.dtype, left, at, right, at, at), generate

    return intrinsic(add)


def _scale(typing: Any, out: Any, k: Any, factor: Any, source: Any, c: Any, vectors: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to, row = (_View(context, builder, signature, args, at) for at in (0, 3))
        _, k, factor, _, c, vectors = args
        with cgutils.for_range(builder, vectors) as loop:
            j = builder.mul(loop.index, k.type(LANES))
            to.store(builder.fmul(_splat(builder, factor), row.vector(c, j, 0)), k, j, 0)
        return context.get_dummy_value()

    at = types.intp
    return types.void(out, at, out.dtype, source, at, at), generate


scale: Callable[..., None] = intrinsic(_scale)
"""`scale(out, k, factor, source, c, vectors)`: out[k, :m] = factor source[c, :m] with m = LANES
vectors."""


def _add_scaled(
    typing: Any, out: Any, k: Any, factor: Any, source: Any, c: Any, vectors: Any
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to, row = (_View(context, builder, signature, args, at) for at in (0, 3))
        _, k, factor, _, c, vectors = args
        with cgutils.for_range(builder, vectors) as loop:
            j = builder.mul(loop.index, k.type(LANES))
            both = _splat(builder, factor), row.vector(c, j, 0)
            to.store(_multiply_add(builder, *both, to.vector(k, j, 0)), k, j, 0)
        return context.get_dummy_value()

    at = types.intp
    return types.void(out, at, out.dtype, source, at, at), generate


add_scaled: Callable[..., None] = intrinsic(_add_scaled)
"""`add_scaled(out, k, factor, source, c, vectors)`: out[k, :m] += factor source[c, :m] with m =
LANES vectors."""


def _dot(typing: Any, left: Any, i: Any, right: Any, j: Any, vectors: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        x, y = (_View(context, builder, signature, args, at) for at in (0, 2))
        _, i, _, j, vectors = args
        vector = ir.VectorType(context.get_value_type(left.dtype), LANES)
        total = cgutils.alloca_once_value(builder, ir.Constant(vector, None))
        with cgutils.for_range(builder, vectors) as loop:
            at = builder.mul(loop.index, i.type(LANES))
            both = x.vector(i, at, 0), y.vector(j, at, 0)
            builder.store(_multiply_add(builder, *both, builder.load(total)), total)
        return _added_up(builder, vector, builder.load(total))

    at = types.intp
    return left.dtype(left, at, right, at, at), generate


dot: Callable[..., Any] = intrinsic(_dot)
"""`dot(left, i, right, j, vectors)`: left[i, :m] . right[j, :m] with m = LANES vectors."""


def _fetch(typing: Any, source: Any, c: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row = _View(context, builder, signature, args, 0)
        kind = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        form = ir.FunctionType(ir.VoidType(), [kind, flag, flag, flag])
        fetch = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")
        start = builder.bitcast(row.address(args[1]), kind)
        builder.call(fetch, [start, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(source, types.intp), generate


fetch: Callable[..., None] = intrinsic(_fetch)
"""`fetch(source, c)`: prefetch the start of source[c] to the nearest cache."""


class _View:
    """One array argument: its numbers and vectors, by row and column."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any, at: int) -> None:
        array = context.make_array(signature.args[at])(context, builder, args[at])
        self._builder, self._data = builder, array.data
        self._stride = builder.extract_value(array.shape, 1)
        element = context.get_value_type(signature.args[at].dtype)
        self._align = context.get_abi_sizeof(element)
        self._vector = ir.VectorType(element, LANES).as_pointer()

    def number(self, row: Any, column: Any, on: int) -> Any:
        """Load the number at (row, column + on)."""
        return self._builder.load(self._address(row, column, on))

    def vector(self, row: Any, column: Any, on: int) -> Any:
        """Load the vector at (row, column + LANES on)."""
        address = self._builder.bitcast(self._address(row, column, LANES * on), self._vector)
        return self._builder.load(address, align=self._align)

    def address(self, row: Any) -> Any:
        """Return the address of a row."""
        return self._address(row, row.type(0), 0)

    def store(self, value: Any, row: Any, column: Any, on: int) -> None:
        """Store a vector at (row, column + LANES on)."""
        address = self._builder.bitcast(self._address(row, column, LANES * on), self._vector)
        self._builder.store(value, address, align=self._align)

    def _address(self, row: Any, column: Any, on: int) -> Any:
        b = self._builder
        start = b.add(b.mul(row, self._stride), column)
        return b.gep(self._data, [b.add(start, start.type(on))])


def _splat(builder: Any, number: Any) -> Any:
    """Return a vector of one number, repeated."""
    undefined = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    first = builder.insert_element(undefined, number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), None)
    return builder.shuffle_vector(first, undefined, zeros)


def _multiply_add(builder: Any, a: Any, b: Any, total: Any) -> Any:
    """Return a b + total, fused where the machine supports it."""
    product = builder.fmul(a, b, flags=["contract"])
    return builder.fadd(total, product, flags=["contract"])


def _added_up(builder: Any, vector: Any, lanes: Any) -> Any:
    """Return the sum of a vector's elements, in the fastest order."""
    kind, number = f"v{LANES}f{'32' if vector.element == ir.FloatType() else '64'}", vector.element
    form = ir.FunctionType(number, [number, vector])
    name = f"llvm.vector.reduce.fadd.{kind}"
    add = cgutils.get_or_insert_function(builder.module, form, name)
    return builder.call(add, [ir.Constant(number, 0.0), lanes], fastmath=("reassoc",))
