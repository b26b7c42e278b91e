"""Memory prefetching in compiled loops with irregular access."""

from collections.abc import Callable
from typing import Any

import llvmlite.ir  # pyright: ignore[reportMissingTypeStubs]
from numba import types
from numba.extending import intrinsic

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
