/**
 * A chart of one figure with a line for each member, and a mark at each notable event.
 *
 * chart.js draws it; it is loaded with this file, when somebody opens the page. Colours are the
 * page's own variables, read anew at each drawing, so that a change of the theme takes effect.
 */
import {
  Chart,
  LinearScale,
  LineController,
  LineElement,
  type Plugin,
  PointElement,
  Tooltip,
} from 'chart.js';
import { useEffect, useRef } from 'react';
import { clockText } from '../live/format.js';
import { type ChartSpec, colourOf, type Line } from './series.js';

Chart.register(LineController, LineElement, PointElement, LinearScale, Tooltip);

export interface Mark {
  readonly atMs: number;
  /** The name of a CSS variable. */
  readonly colour: string;
  readonly isChosen: boolean;
}

export interface LineChartProps {
  readonly spec: ChartSpec;
  readonly lines: readonly Line[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly marks: readonly Mark[];
}

export function LineChart({ spec, lines, fromMs, toMs, marks }: LineChartProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const chart = useRef<Chart | null>(null);
  const newest = useRef<readonly Mark[]>(marks);
  /** Draws the newest figures, in the colours of this moment. */
  const draw = useRef<() => void>(() => undefined);
  useEffect(() => {
    const { current } = canvas;
    if (current === null) return;
    const made = new Chart(current, {
      type: 'line',
      data: { datasets: [] },
      plugins: [marksPlugin(() => newest.current)],
    });
    chart.current = made;
    const stop = onColours(() => draw.current());
    return () => {
      stop();
      made.destroy();
      chart.current = null;
    };
  }, []);
  useEffect(() => {
    newest.current = marks;
    draw.current = () => {
      const { current } = chart;
      if (current === null) return;
      const colour = colourReader();
      current.data.datasets = lines.map(({ member, points }) => ({
        label: `Member ${member}`,
        data: points.map(({ x, y }) => ({ x, y: y ?? Number.NaN })),
        borderColor: colour(colourOf(member)),
        backgroundColor: colour(colourOf(member)),
        borderWidth: 1.5,
        pointRadius: points.length < 3 ? 2 : 0,
        pointHitRadius: 8,
        tension: 0.25,
        spanGaps: 4_000,
      }));
      current.options = optionsOf(spec, { fromMs, toMs, colour });
      current.update('none');
    };
    draw.current();
  }, [spec, lines, fromMs, toMs, marks]);
  const told = lines.flatMap(({ member, newest: value }) => {
    return value === null ? [] : [`member ${member} ${spec.text(value)}`];
  });
  const label = `${spec.title}: ${told.length === 0 ? 'no figures yet' : told.join(', ')}`;
  return (
    <div className="chart-canvas">
      <canvas ref={canvas} role="img" aria-label={label} />
    </div>
  );
}

/** Calls back when the system or the person has chosen light or dark; returns how to stop that. */
function onColours(onChange: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)');
  const chosen = new MutationObserver(onChange);
  system.addEventListener('change', onChange);
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    system.removeEventListener('change', onChange);
    chosen.disconnect();
  };
}

type ReadColour = (variable: string) => string;

function colourReader(): ReadColour {
  const style = getComputedStyle(document.documentElement);
  return (variable) => style.getPropertyValue(variable).trim();
}

function optionsOf(
  spec: ChartSpec,
  { fromMs, toMs, colour }: { fromMs: number; toMs: number; colour: ReadColour },
): Chart['options'] {
  const ticks = { color: colour('--text-faint'), font: { size: 10 }, maxRotation: 0 };
  return {
    animation: false,
    responsive: true,
    maintainAspectRatio: false,
    normalized: true,
    interaction: { mode: 'nearest', axis: 'x', intersect: false },
    scales: {
      x: {
        type: 'linear',
        min: fromMs,
        max: toMs,
        grid: { display: false },
        border: { color: colour('--line-strong') },
        afterBuildTicks: (scale) => {
          scale.ticks = timesIn(fromMs, toMs).map((value) => ({ value }));
        },
        ticks: {
          ...ticks,
          autoSkip: false,
          callback: (value) => clockText(Number(value)).slice(-8),
        },
      },
      y: {
        type: 'linear',
        beginAtZero: true,
        suggestedMax: spec.figure === 'lag' ? 5 : 0.5,
        grid: { color: colour('--line') },
        border: { display: false },
        ticks: {
          ...ticks,
          maxTicksLimit: 4,
          precision: spec.figure === 'lag' ? 0 : 3,
          callback: (value) => shortText(Number(value), spec),
        },
      },
    },
    plugins: {
      tooltip: {
        backgroundColor: colour('--text'),
        titleColor: colour('--surface'),
        bodyColor: colour('--surface'),
        displayColors: true,
        boxWidth: 8,
        boxHeight: 8,
        callbacks: {
          title: (items) => clockText(items[0]?.parsed.x ?? 0),
          label: ({ dataset, parsed }) => `${dataset.label}: ${spec.text(parsed.y ?? 0)}`,
        },
      },
    },
  };
}

const STEPS_MS = [30_000, 60_000, 300_000] as const;
const TICKS_MAX = 5;

/** Whole half minutes, minutes or five minutes. */
function timesIn(fromMs: number, toMs: number): readonly number[] {
  const stepMs = STEPS_MS.find((step) => (toMs - fromMs) / step <= TICKS_MAX) ?? 600_000;
  const times: number[] = [];
  for (let at = Math.ceil(fromMs / stepMs) * stepMs; at <= toMs; at += stepMs) times.push(at);
  return times;
}

/** A tick has room for a few characters. */
function shortText(value: number, { figure }: ChartSpec): string {
  if (figure === 'updates' || figure === 'syncs' || figure === 'reads') {
    return value >= 1000 ? `${value / 1000} s` : `${Math.round(value * 100) / 100} ms`;
  }
  if (value >= 1e6) return `${Math.round(value / 1e5) / 10}M`;
  return value >= 1e4 ? `${Math.round(value / 1e3)}k` : String(Math.round(value * 10) / 10);
}

function marksPlugin(marks: () => readonly Mark[]): Plugin {
  return {
    id: 'marks',
    beforeDatasetsDraw(chart) {
      const { ctx, chartArea, scales } = chart;
      const scale = scales['x'];
      if (scale === undefined) return;
      const colour = colourReader();
      ctx.save();
      let last = Number.NEGATIVE_INFINITY;
      for (const { atMs, colour: name, isChosen } of marks()) {
        const x = scale.getPixelForValue(atMs);
        // Several within a few pixels are one line.
        if (x < chartArea.left || x > chartArea.right || (x - last < 3 && !isChosen)) continue;
        last = x;
        ctx.strokeStyle = colour(name);
        ctx.globalAlpha = isChosen ? 1 : 0.55;
        ctx.lineWidth = isChosen ? 2 : 1;
        ctx.setLineDash(isChosen ? [] : [3, 3]);
        ctx.beginPath();
        ctx.moveTo(x, chartArea.top);
        ctx.lineTo(x, chartArea.bottom);
        ctx.stroke();
      }
      ctx.restore();
    },
  };
}
