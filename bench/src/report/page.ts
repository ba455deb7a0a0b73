/**
 * The fixed parts of the HTML report: its style, and the few lines that draw the charts.
 *
 * The script is for browsers, and so text here. It gets the charts as JSON, draws each when it
 * comes into view, and knows two kinds of axes; everything else is decided in `charts.ts`.
 */
export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #c62828; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; }
body { margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; } h3 { margin: 2rem 0 .3rem; }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); }
.met { color: var(--good); } .not-met, .trouble { color: var(--bad); }
.not-measured { opacity: .6; } .wide { overflow-x: auto; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 1rem; }
.charts div { position: relative; height: 260px; }
.caveat { border: 2px solid var(--bad); padding: .5rem 1rem; }
code { opacity: .7; }
`;

export const SCRIPT = `
const charts = JSON.parse(document.getElementById('charts').textContent);
const percentile = (x) => {
  const nines = Math.log10(x);
  if (Math.abs(nines - Math.round(nines)) > 1e-9) return null;
  return nines < 0.5 ? '0 %' : (100 - 100 / x).toFixed(Math.max(0, Math.round(nines) - 2)) + ' %';
};
const xAxes = {
  percentiles: {
    type: 'logarithmic',
    title: { display: true, text: 'percentile' },
    ticks: { autoSkip: false, callback: percentile },
  },
  time: { type: 'linear', title: { display: true, text: 'seconds' } },
};
const draw = (canvas) => {
  const chart = charts.find(({ id }) => id === canvas.id);
  new Chart(canvas, {
    type: 'line',
    data: {
      datasets: chart.lines.map(({ label, color, points }) => ({
        label, data: points, borderColor: color, backgroundColor: color,
        pointRadius: 0, borderWidth: 1.5,
      })),
    },
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, parsing: false,
      interaction: { mode: 'nearest', axis: 'x', intersect: false },
      plugins: { title: { display: true, text: chart.title } },
      scales: {
        x: xAxes[chart.kind],
        y: {
          type: chart.kind === 'percentiles' ? 'logarithmic' : 'linear',
          beginAtZero: chart.kind === 'time',
          title: { display: true, text: chart.yTitle },
        },
      },
    },
  });
};
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    draw(target);
  }
}, { rootMargin: '400px' });
for (const canvas of document.querySelectorAll('canvas')) seen.observe(canvas);
`;
