# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportMissingTypeStubs=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false
# pyright: reportMissingParameterType=false, reportUntypedFunctionDecorator=false
"""A register tile of a Gram matrix: the one place where instructions are chosen by hand.

Compilers turn the plain triple loop into code that loads and stores H for every product. Here a
tile of 4 x 32 (or 4 x 16) entries of H stays in vector registers while all rows of a batch pass:
one load serves four fused multiply-adds. Vectors are 16 floats wide whatever the machine; LLVM
splits them where registers are shorter.
"""

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
ROWS = 4
BYTES = 4

_float = ir.FloatType()
_long = ir.IntType(64)
_lane = ir.IntType(32)
_vector = ir.VectorType(_float, LANES)


def _at(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _load(builder: Any, address: Any, kind: Any) -> Any:
    value = builder.load(_at(builder, address, kind))
    value.align = BYTES
    return value


def _broadcast(builder: Any, scalar: Any) -> Any:
    nothing = ir.Constant(_vector, ir.Undefined)
    first = builder.insert_element(nothing, scalar, ir.Constant(_lane, 0))
    return builder.shuffle_vector(
        first, nothing, ir.Constant(ir.VectorType(_lane, LANES), [0] * LANES)
    )


def _tile(vectors: int) -> Any:
    """H[4, 16 vectors] += left[:, 4]' right[:, 16 vectors], all given as addresses and strides."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, right, stride, count, H, H_stride = arguments

        def offset(row: int, v: int) -> Any:
            down = builder.mul(H_stride, ir.Constant(_long, row))
            return builder.add(builder.add(H, down), ir.Constant(_long, BYTES * LANES * v))

        places = [(row, v) for row in range(ROWS) for v in range(vectors)]
        start = {place: _load(builder, offset(*place), _vector) for place in places}
        entry = builder.block
        loop, done = builder.append_basic_block("rows"), builder.append_basic_block("done")
        builder.branch(loop)
        builder.position_at_end(loop)
        turn, a, b = (builder.phi(_long) for _ in range(3))
        held = {place: builder.phi(_vector) for place in places}
        lanes = [
            _load(builder, builder.add(b, ir.Constant(_long, BYTES * LANES * v)), _vector)
            for v in range(vectors)
        ]
        sums = {}
        for row in range(ROWS):
            scalar = _load(builder, builder.add(a, ir.Constant(_long, BYTES * row)), _float)
            spread = _broadcast(builder, scalar)
            for v in range(vectors):
                product = builder.fmul(spread, lanes[v], flags=("contract",))
                sums[row, v] = builder.fadd(product, held[row, v], flags=("contract",))
        steps = {turn: ir.Constant(_long, 1), a: stride, b: stride}
        for value, begin in ((turn, ir.Constant(_long, 0)), (a, left), (b, right)):
            value.add_incoming(begin, entry)
            value.add_incoming(builder.add(value, steps[value]), loop)
        for place in places:
            held[place].add_incoming(start[place], entry)
            held[place].add_incoming(sums[place], loop)
        more = builder.icmp_signed("<", turn.incomings[1][0], count)
        builder.cbranch(more, loop, done)
        builder.position_at_end(done)
        for place in places:
            builder.store(sums[place], _at(builder, offset(*place), _vector)).align = BYTES
        return context.get_dummy_value()

    def typed(context: Any, left, right, stride, count, H, H_stride) -> Any:  # type: ignore[no-untyped-def]
        return types.void(left, right, stride, count, H, H_stride), emit

    return intrinsic(typed)


_narrow, _wide = _tile(1), _tile(2)


def _prefetch(context: Any, address) -> Any:  # type: ignore[no-untyped-def]
    """Ask for the cache line at an address, and do not wait for it."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _at(builder, arguments[0], ir.IntType(8))
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, _lane, _lane, _lane])
        ask = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(ask, [pointer, *(ir.Constant(_lane, flag) for flag in (0, 3, 1))])
        return context.get_dummy_value()

    return types.void(address), emit


prefetch: Any = intrinsic(_prefetch)


@njit(cache=True)
def add_gram(left: Any, right: Any, H: Any, rows: int) -> None:
    """H[:rows] += left' right on the lower triangle, in whole tiles; float32 throughout.

    `left`, `right`: shape (batch, W), one stride; `H`: shape (W, W), W a multiple of 16; `rows`
    is rounded up to 4, and entries right of the diagonal up to the next multiple of 16 are
    scratch.
    """
    stride, H_stride = left.strides[0], H.strides[0]
    left_at, right_at, H_at = left.ctypes.data, right.ctypes.data, H.ctypes.data
    for quad in range((rows + ROWS - 1) // ROWS):
        a, h = left_at + BYTES * ROWS * quad, H_at + H_stride * ROWS * quad
        blocks = ROWS * quad // LANES + 1
        for pair in range(blocks // 2):
            j = 2 * LANES * BYTES * pair
            _wide(a, right_at + j, stride, len(left), h + j, H_stride)
        if blocks % 2:
            j = LANES * BYTES * (blocks - 1)
            _narrow(a, right_at + j, stride, len(left), h + j, H_stride)
