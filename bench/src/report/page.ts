/**
 * The fixed parts of the HTML report: its style, and the few lines that draw the charts.
 *
 * The script runs in browsers and is therefore text here. It gets the charts as JSON, draws each
 * when it comes into view or is printed, in the colors of the theme, and knows two kinds of axes;
 * everything else is decided in `charts.ts`.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --line: #8884; --muted: #59636e; --good: #1a7f37; --bad: #c62828;
}
@media (prefers-color-scheme: dark) {
  :root { --muted: #a4adb8; --good: #4ac26b; --bad: #ff8178; }
}
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; }
body { margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
h1 { margin-bottom: 0; line-height: 1.2; }
h2 { margin-top: 2.5rem; } h3 { margin: 2.2rem 0 .3rem; }
.subtitle { color: var(--muted); margin: .4rem 0 1.2rem; }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .2rem 1.2rem .2rem 0; }
th, td { border-bottom: 1px solid var(--line); }
th:last-child, td:last-child { padding-right: 0; }
.whole, .spread { white-space: nowrap; }
.spread { color: var(--muted); }
.targets th[colspan] { padding-top: .8rem; }
.targets th[colspan] span { font-weight: normal; margin-left: .6rem; white-space: nowrap; }
.facts td:first-child { color: var(--muted); }
.met { color: var(--good); } .not-met, .trouble { color: var(--bad); }
.not-measured, .nothing-to-compare-with { color: var(--muted); } .wide { overflow-x: auto; }
.charts { display: grid; gap: 1rem; }
.charts { grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); }
.charts div { position: relative; height: 280px; min-width: 0; }
.caveat { border: 2px solid var(--bad); padding: .5rem 1rem; }
code { color: var(--muted); font-weight: normal; }
summary { cursor: pointer; }
@media (max-width: 640px) {
  body { margin: 1rem auto; font-size: 14px; }
  th, td { padding-right: .7rem; }
  .spread { display: block; white-space: normal; }
}
`;

export const SCRIPT = `
const charts = JSON.parse(document.getElementById('charts').textContent);
const drawn = new Map();
const short = (value) => String(Number(value.toPrecision(3)));
const percentOf = (x) => 100 - 100 / x;
const nineTick = (x) => {
  const nines = Math.log10(x);
  if (Math.abs(nines - Math.round(nines)) > 1e-9) return null;
  return percentOf(x).toFixed(Math.max(0, Math.round(nines) - 2)) + ' %';
};
const LABELLED = [
  { decadesMax: 0.5, digits: null },
  { decadesMax: 1.2, digits: [1, 2, 3, 5, 7] },
  { decadesMax: 3.5, digits: [1, 2, 5] },
  { decadesMax: Infinity, digits: [1] },
];
const logTick = (value, index, ticks) => {
  const decades = Math.log10(ticks[ticks.length - 1].value / ticks[0].value);
  const { digits } = LABELLED.find(({ decadesMax }) => Math.abs(decades) <= decadesMax);
  const digit = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
  const isLabelled = digits === null || digits.some((one) => Math.abs(one - digit) < 1e-6);
  return isLabelled ? short(value) : null;
};
const axes = (chart) => {
  const named = (text) => ({ display: true, text });
  if (chart.kind === 'time') {
    return {
      x: { type: 'linear', title: named(chart.xTitle), ticks: { maxRotation: 0 } },
      y: { type: 'linear', title: named(chart.yTitle), beginAtZero: true },
    };
  }
  const log = { type: 'logarithmic' };
  const ticks = { autoSkip: false, maxRotation: 0 };
  return {
    x: { ...log, title: named(chart.xTitle), ticks: { ...ticks, callback: nineTick } },
    y: { ...log, title: named(chart.yTitle), ticks: { ...ticks, callback: logTick } },
  };
};
const at = (chart, x) =>
  chart.kind === 'time' ? short(x) + ' s' : Number(percentOf(x).toFixed(3)) + ' %';
const draw = (canvas) => {
  const chart = charts.find(({ id }) => id === canvas.id);
  const style = getComputedStyle(document.documentElement);
  Chart.defaults.color = style.getPropertyValue('--muted').trim();
  Chart.defaults.borderColor = style.getPropertyValue('--line').trim();
  drawn.get(canvas)?.destroy();
  drawn.set(canvas, new Chart(canvas, {
    type: 'line',
    data: {
      datasets: chart.lines.map(({ label, color, points }) => ({
        label, data: points, borderColor: color, backgroundColor: color,
        pointRadius: 0, borderWidth: 2,
      })),
    },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, parsing: false,
      interaction: { mode: 'nearest', axis: 'x', intersect: false },
      plugins: {
        title: { display: true, text: chart.title },
        legend: { labels: { usePointStyle: true, pointStyle: 'line' } },
        tooltip: {
          callbacks: {
            title: ([first]) => (first ? at(chart, first.parsed.x) : ''),
            label: ({ dataset, parsed }) => dataset.label + ': ' + short(parsed.y) + chart.unit,
          },
        },
      },
      scales: axes(chart),
    },
  }));
};
const canvases = [...document.querySelectorAll('canvas')];
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    draw(target);
  }
}, { rootMargin: '400px' });
for (const canvas of canvases) seen.observe(canvas);
addEventListener('beforeprint', () => {
  for (const canvas of canvases) if (!drawn.has(canvas)) draw(canvas);
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const canvas of [...drawn.keys()]) draw(canvas);
});
`;
