"""Lines over whole numbers as an SVG picture, in plain text: the same numbers make the same file."""

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

Points = Sequence[tuple[int, float]]

_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 110, 50, 55
_COLOURS = ("#0b5fa5", "#c4421a", "#2b8a3e", "#8e44ad")


def line_plot(title: str, x_name: str, y_name: str, lines: Mapping[str, Points], logarithmic: bool) -> str:
    """The picture, as text.

    Args:
        title: what stands above it.
        x_name, y_name: what stands along the axes.
        lines: by name, points (x, y) with x rising and y positive.
        logarithmic: whether equal steps upwards are equal factors.
    """
    every = [point for points in lines.values() for point in points]
    marks = _decades(every) if logarithmic else _even_steps(every)
    columns = range(min(x for x, _ in every), max(x for x, _ in every) + 1)

    def across(x: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (x - columns[0] + 0.3) / (len(columns) - 0.4)

    def up(y: float) -> float:
        low, high, y = (math.log(v) if logarithmic else v for v in (marks[0], marks[-1], y))
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (y - low) / (high - low)

    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="28" font-size="16">{escape(title)}</text>',
        f'<text x="{(_LEFT + right) / 2:.0f}" y="{_HEIGHT - 14}" text-anchor="middle">',
        f"{escape(x_name)}</text>",
        f'<text transform="translate(18 {(_TOP + bottom) / 2:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_name)}</text>",
    ]
    for mark in marks:
        parts.append(f'<path d="M{_LEFT} {up(mark):.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{up(mark) + 4:.1f}" text-anchor="end">{_short(mark)}</text>')
    for x in columns:
        parts.append(f'<text x="{across(x):.1f}" y="{bottom + 20}" text-anchor="middle">{x}</text>')
    labels = _apart({name: up(points[-1][1]) + 4 for name, points in lines.items()})
    for (name, points), colour in zip(lines.items(), _COLOURS, strict=False):
        path = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in points)
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y in points:
            parts.append(f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3.5" fill="{colour}"/>')
        end = across(points[-1][0]) + 10
        parts.append(f'<text x="{end:.1f}" y="{labels[name]:.1f}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """Heights of labels, each moved up as far as it takes not to cover the one below it."""
    found: dict[str, float] = {}
    room = math.inf
    for name, height in sorted(heights.items(), key=lambda item: -item[1]):
        found[name] = min(height, room)
        room = found[name] - 14
    return found


def _decades(points: Points) -> list[float]:
    low = math.floor(math.log10(min(y for _, y in points)))
    high = math.ceil(math.log10(max(y for _, y in points)))
    return [10.0**power for power in range(low, max(high, low + 1) + 1)]


def _even_steps(points: Points) -> list[float]:
    most = max(y for _, y in points)
    step = next(
        factor * 10.0**power
        for power in range(math.floor(math.log10(most)) - 1, 99)
        for factor in (1, 2, 5)
        if most <= 6 * factor * 10.0**power
    )
    return [step * number for number in range(math.ceil(most / step) + 1)]


def _short(number: float) -> str:
    """A number beside an axis: 20000 as 20 k."""
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:g}{unit}"
    return f"{number:g}"
