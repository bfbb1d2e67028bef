"""Bit operations on sets of squares for kernels, each a few machine instructions.

A set is an int64 scalar.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np import arrayobj

from tablebase.kernels.jit import inlined


def _int64_intrinsic(emit: Callable[[Any, Any], Any]) -> Callable[[int], int]:
    """Return an intrinsic int64 -> int64; `emit(builder, value)` builds its LLVM instructions."""

    def typer(_typing_context: Any, _value: Any) -> Any:
        def codegen(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return emit(builder, arguments[0])

        return types.int64(types.int64), codegen

    return cast(Callable[[int], int], intrinsic(typer))


def _emit_popcount(builder: Any, value: Any) -> Any:
    return builder.ctpop(value)


def _emit_lowest(builder: Any, value: Any) -> Any:
    zero_is_undefined = ir.Constant(ir.IntType(1), 0)
    return builder.cttz(value, zero_is_undefined)


def _emit_highest(builder: Any, value: Any) -> Any:
    zero_is_undefined = ir.Constant(ir.IntType(1), 0)
    return builder.sub(ir.Constant(ir.IntType(64), 63), builder.ctlz(value, zero_is_undefined))


def _emit_reverse(builder: Any, value: Any) -> Any:
    low_half = builder.trunc(value, ir.IntType(32))
    return builder.zext(builder.bitreverse(low_half), ir.IntType(64))


_make_array: Any = arrayobj.make_array


def _or_at_typer(_typing_context: Any, _array: Any, _index: Any, _bits: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = _make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.gep(array.data, [arguments[1]])
        builder.atomic_rmw("or", pointer, arguments[2], "monotonic")
        return context.get_dummy_value()

    return types.void(_array, types.int64, types.uint32), codegen


_popcount = _int64_intrinsic(_emit_popcount)
_lowest = _int64_intrinsic(_emit_lowest)
_highest = _int64_intrinsic(_emit_highest)
_reverse = _int64_intrinsic(_emit_reverse)
_or_at = cast(Callable[[Any, int, Any], None], intrinsic(_or_at_typer))


@inlined
def popcount(squares: int) -> int:
    """Return the number of squares in a set."""
    return _popcount(squares)


@inlined
def lowest(squares: int) -> int:
    """Return the lowest square of a set (its count of trailing zeros); 64 for the empty set."""
    return _lowest(squares)


@inlined
def highest(squares: int) -> int:
    """Return the highest square of a set; -1 for the empty set."""
    return _highest(squares)


@inlined
def reverse(squares: int) -> int:
    """Return a set on the board turned by 180 degrees: square s becomes 31 - s. Bits above 31 are dropped."""
    return _reverse(squares)


@inlined
def or_at(array: Any, index: int, bits: Any) -> None:
    """Set bits of one element of a uint32 array, atomically with other threads that do the same."""
    _or_at(array, index, bits)


@inlined
def signed(value: Any) -> int:
    """Return an element of an array as an int64.

    `int` would keep it unsigned, and numba makes floats of sums of int64 and uint64.
    """
    return np.int64(value)  # type: ignore[return-value]
