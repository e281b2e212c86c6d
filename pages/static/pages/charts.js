// Draws each canvas that names its series; the page works without it, by its tables.
const series = JSON.parse(document.getElementById("series").textContent);
const style = getComputedStyle(document.documentElement);
const colors = ["--first", "--second", "--third"].map((name) => style.getPropertyValue(name));

Chart.defaults.color = style.getPropertyValue("--text");
Chart.defaults.borderColor = style.getPropertyValue("--line");
Chart.defaults.animation = false;

for (const canvas of document.querySelectorAll("canvas[data-series]")) {
  const { labels, ...sets } = series[canvas.dataset.series];
  const datasets = Object.entries(sets).map(([label, data], place) => ({
    label,
    data,
    borderColor: colors[place],
    backgroundColor: colors[place],
  }));
  new Chart(canvas, {
    type: canvas.dataset.chart,
    data: { labels, datasets },
    options: { maintainAspectRatio: false, scales: { y: { beginAtZero: true } } },
  });
}
