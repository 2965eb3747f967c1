"""SVG files as elements of a page: ids of their own, colours that the page can change."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from wakeful.inputs import must_be

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
FIGURE_GROWTH = 1.6  # times its size: how far a figure may grow with the page


def inline(path: Path, prefix: str, alt: str) -> tuple[str, float]:
    """Return an SVG file as an element of a page, and its width in points.

    Ids begin with `prefix`, so that figures do not take each other's parts; colours become variables of the page, so
    that it can change them at night; width and height give way to the page's.
    """
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{{{SVG}}}metadata", f"{{{SVG}}}style", f"{{{SVG}}}title"}:
                parent.remove(child)
    for element in root.iter():
        for key, value in element.attrib.items():
            element.attrib[key] = _own(key, value, prefix)
    root.attrib |= {"role": "img", "aria-label": alt}
    root.attrib["style"] = f"min-width:{0.8 * width:.0f}px;max-width:{FIGURE_GROWTH * width:.0f}px"
    root.attrib |= {"width": f"{width:g}", "height": f"{height:g}"}
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    return ET.tostring(root, encoding="unicode"), width


def _own(key: str, value: str, prefix: str) -> str:
    """Return an attribute's value with the page's colours and this figure's ids."""
    if key == "id":
        return prefix + value
    if key in {"href", f"{{{XLINK}}}href"}:
        if not value.startswith(("#", "data:")):
            raise ValueError(must_be("href in a figure", "inside the file", value))
        return f"#{prefix}{value[1:]}" if value.startswith("#") else value
    value = value.replace("url(#", f"url(#{prefix}")
    return (
        re.sub(r"#[0-9a-fA-F]{6}\b", lambda hit: f"var(--x{hit[0][1:].lower()}, {hit[0]})", value)
        if key == "style"
        else value
    )
