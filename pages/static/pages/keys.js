// "/" focuses the search box; the arrow keys move through the results and back.
const walk = (links, place, box) => {
  const target = place < 0 ? box : links[Math.min(place, links.length - 1)];
  if (target) target.focus();
};

document.addEventListener("keydown", (event) => {
  const box = document.getElementById("q");
  if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [...document.querySelectorAll("#results a.result")];
  const place = links.indexOf(document.activeElement);
  const isTyping = event.target.matches("input, select, textarea");
  if (event.key === "/" && !isTyping) {
    box.focus();
    box.select();
  } else if (event.key === "ArrowDown" && (event.target === box || place >= 0) && links.length) {
    walk(links, place + 1, box);
  } else if (event.key === "ArrowUp" && place >= 0) {
    walk(links, place - 1, box);
  } else if (event.key === "Escape" && place >= 0) {
    box.focus();
  } else {
    return;
  }
  event.preventDefault();
});
