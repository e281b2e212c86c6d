// Draws each canvas that names its series; without it, the tables show the data.
const series = JSON.parse(document.getElementById("series").textContent);
let charts = [];

const chartOf = (canvas, style) => {
  const { labels, ...sets } = series[canvas.dataset.series];
  const colors = ["--first", "--second", "--third"].map((name) => style.getPropertyValue(name));
  const datasets = Object.entries(sets).map(([label, data], place) => ({
    label,
    data,
    borderColor: colors[place],
    backgroundColor: colors[place],
  }));
  return new Chart(canvas, {
    type: canvas.dataset.chart,
    data: { labels, datasets },
    options: { maintainAspectRatio: false, scales: { y: { beginAtZero: true } } },
  });
};

const draw = () => {
  const style = getComputedStyle(document.documentElement);
  Chart.defaults.color = style.getPropertyValue("--text");
  Chart.defaults.borderColor = style.getPropertyValue("--line");
  Chart.defaults.animation = false;
  charts.forEach((chart) => chart.destroy());
  charts = [...document.querySelectorAll("canvas[data-series]")].map((canvas) => chartOf(canvas, style));
};

draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
