"""Inline SVG, shape by shape. Colours are classes, so that one stylesheet serves day, night and paper."""

from __future__ import annotations

from xml.etree import ElementTree

from markupsafe import Markup

#: Columns of every picture, in its own units: about the pixels of a phone, so that text needs no shrinking there.
WIDTH = 340


class Picture:
    """An ``<svg>`` that a screen reader reads as ``title`` and ``description``. ``key`` is unique on its page."""

    def __init__(self, key: str, height: float, title: str, description: str) -> None:
        names = {"title": f"{key}-title", "desc": f"{key}-desc"}
        self._root = ElementTree.Element(
            "svg", {"viewBox": f"0 0 {WIDTH} {_number(height)}", "role": "img",
                    "aria-labelledby": " ".join(names.values())},
        )  # fmt: skip
        for tag, text in (("title", title), ("desc", description)):
            ElementTree.SubElement(self._root, tag, {"id": names[tag]}).text = text

    def rect(
        self, x: float, y: float, width: float, height: float, kind: str, *, strength: float | None = None,
        round_: float = 0,
    ) -> None:  # fmt: skip
        """A rectangle of class ``kind``; ``strength`` (0 to 1) is how opaque its fill is."""
        more = {"rx": _number(round_)} if round_ else {}
        if strength is not None:
            more["fill-opacity"] = _number(strength)
        self._add("rect", kind, {"x": x, "y": y, "width": max(0, width), "height": max(0, height)}, more)

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line."""
        self._add("line", kind, {"x1": x1, "y1": y1, "x2": x2, "y2": y2})

    def path(self, points: list[tuple[float, float]], kind: str, *, closed: bool = False) -> None:
        """A line through ``points``, or the area inside them."""
        steps = " L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        self._add("path", kind, {}, {"d": f"M{steps}{'Z' if closed else ''}"})

    def circle(self, x: float, y: float, radius: float, kind: str) -> None:
        """A circle around a point."""
        self._add("circle", kind, {"cx": x, "cy": y, "r": radius})

    def text(self, x: float, y: float, text: str, kind: str = "", *, anchor: str = "start", turn: float = 0) -> None:
        """Text whose baseline starts (or is centred, or ends) at a point; ``turn`` degrees about it."""
        more = {"transform": f"rotate({_number(turn)} {_number(x)} {_number(y)})"} if turn else {}
        if anchor != "start":
            more["text-anchor"] = anchor
        self._add("text", kind, {"x": x, "y": y}, more).text = text

    def markup(self) -> Markup:
        """The whole element, safe to set into HTML: every text and attribute is escaped."""
        return Markup(ElementTree.tostring(self._root, encoding="unicode"))

    def _add(
        self, tag: str, kind: str, numbers: dict[str, float], more: dict[str, str] | None = None
    ) -> ElementTree.Element:
        fields = ({"class": kind} if kind else {}) | {name: _number(value) for name, value in numbers.items()}
        return ElementTree.SubElement(self._root, tag, fields | (more or {}))


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
