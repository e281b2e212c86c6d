"""What colours a page has, however its style sheets say so."""

from typing import Literal

from playwright.sync_api import Locator, Page

Colors = Literal["light", "dark"]

PAINT = """
const painted = (color) => {
  const brush = new OffscreenCanvas(1, 1).getContext("2d");
  brush.fillStyle = color;
  brush.fillRect(0, 0, 1, 1);
  return brush.getImageData(0, 0, 1, 1).data;
};
"""
# The body's colour is also that of the window around it.
BACKGROUND = f"""() => {{
  {PAINT}
  const grounds = [document.body];
  let at = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  for (; at; at = at.parentElement) grounds.splice(-1, 0, at);
  const colors = grounds.map((ground) => painted(getComputedStyle(ground).backgroundColor));
  const [red, green, blue] = colors.find((color) => color[3] === 255) ?? [255, 255, 255];
  return (red + green + blue) / (3 * 255);
}}"""
PIXELS = f"""(canvas, color) => {{
  {PAINT}
  const wanted = painted(getComputedStyle(canvas).getPropertyValue(color)).join();
  const {{data}} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let at = 0; at < data.length; at += 4) {{
    count += data.slice(at, at + 4).join() === wanted;
  }}
  return count;
}}"""


def are_dark(page: Page) -> bool:
    """Whether what is in the middle of the page stands on a dark ground."""
    lightness: float = page.evaluate(BACKGROUND)
    return lightness < 0.5


def pixels_of(canvas: Locator, color: str) -> int:
    """How many have just that colour of the style sheet, such as `--first`."""
    count: int = canvas.evaluate(PIXELS, color)
    return count
