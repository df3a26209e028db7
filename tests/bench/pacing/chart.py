# SPDX-License-Identifier: BSD-3-Clause
"""Changes with their intervals as an SVG: a line for each cell and arm, zero in the middle."""
from xml.sax.saxutils import escape

COLOURS = {"paper": "#b35806", "barrier": "#8073ac", "ours": "#1b7837", "static": "#666666"}
LEFT, WIDTH, LINE, GAP, TOP = 230, 460, 13, 8, 34


def svg(rows_by_cell):
    """rows_by_cell: [(name, [row])] as of summary.py; the arm off is left out."""
    ends = [end for _, rows in rows_by_cell for row in rows for end in (*row["change_ci95"], row["change_percent"])]
    # a wide interval is cut at the edge: what matters is near zero
    low, high = max(-60, min(-5, *ends)), min(100, max(5, *ends))

    def x(percent):
        return LEFT + WIDTH * (min(max(percent, low), high) - low) / (high - low)

    body, y = [], TOP
    for name, rows in rows_by_cell:
        shown = [row for row in rows if row["arm"] in COLOURS]
        body.append(f'<text x="{LEFT - 12}" y="{y + LINE * len(shown) / 2 + 3:.1f}" text-anchor="end">{escape(name)}</text>')
        for row in shown:
            colour, middle = COLOURS[row["arm"]], y + LINE / 2
            start, end = (x(value) for value in row["change_ci95"])
            body.append(f'<line x1="{start:.1f}" y1="{middle:.1f}" x2="{end:.1f}" y2="{middle:.1f}" stroke="{colour}" stroke-width="2"/>')
            body.append(f'<circle cx="{x(row["change_percent"]):.1f}" cy="{middle:.1f}" r="3.5" fill="{colour}"><title>{escape(name)}, {row["arm"]}: '
                        f'{row["change_percent"]:+.1f} %</title></circle>')
            y += LINE
        y += GAP
    grid, step = [], next(s for s in (1, 2, 5, 10, 20, 50) if (high - low) / s <= 10)
    for tick in range(-60 // step * step, 101, step):
        if low <= tick <= high:
            grid.append(f'<line x1="{x(tick):.1f}" y1="{TOP - 6}" x2="{x(tick):.1f}" y2="{y}" stroke="{"#333" if tick == 0 else "#ddd"}"/>')
            grid.append(f'<text x="{x(tick):.1f}" y="{y + 14}" text-anchor="middle">{tick:+d} %</text>')
    legend, place = [], LEFT
    for arm, colour in COLOURS.items():
        legend.append(f'<circle cx="{place}" cy="14" r="4" fill="{colour}"/><text x="{place + 8}" y="18">{arm}</text>')
        place += 90
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 30}" height="{y + 26}" font-family="sans-serif" font-size="11">'
            f'<rect width="100%" height="100%" fill="white"/>' + "".join(legend + grid + body) + "</svg>\n")
