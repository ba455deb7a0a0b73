/**
 * `mntr`: the member's figures, one `zk_<name>\t<value>` per line.
 *
 * Integers are plain, averages have decimals. Names and order are ZooKeeper's; `zk_followers` is
 * the old name of `zk_synced_followers`, which Exhibitor still reads. Figures that only Rookery has
 * are between ZooKeeper's single values and the summaries.
 */
import type { SummaryView } from '../../measures/summary.js';
import { DECIMAL_NAMES, type FiguresContext, figuresOf, summariesOf } from '../figures.js';
import type { MemberView } from '../member-view.js';
import { formatDecimal } from './format.js';
import { PERCENTILE_NAMES, SUMMARY_NAMES, VALUE_NAMES } from './mntr-names.js';

type Line = readonly [name: string, value: number | string];

const PERCENTILES = [
  ['p50', 0.5],
  ['p95', 0.95],
  ['p99', 0.99],
  ['p999', 0.999],
] as const;

export function monitorReply(context: FiguresContext): string {
  return monitorLines(context)
    .map(([name, value]) => `zk_${name}\t${value}\n`)
    .join('');
}

/** Returns the lines with names that lack the prefix `zk_`. */
export function monitorLines(context: FiguresContext): readonly Line[] {
  return [...head(context.view), ...values(context), ...summaries(context)];
}

function head(view: MemberView): Line[] {
  const lines: Line[] = [
    ['version', view.version],
    ['server_state', view.mode],
  ];
  if (view.quorum !== null && view.mode !== 'read-only') {
    lines.push(['peer_state', view.quorum.peerState]);
  }
  return lines;
}

function values(context: FiguresContext): Line[] {
  const known = new Map<string, number>();
  for (const { name, value } of figuresOf(context)) known.set(name, value);
  const first = known.has('quorum_size') ? ['quorum_size'] : [];
  const named = VALUE_NAMES.filter((name) => known.has(name));
  const own = [...known.keys()].filter((name) => ![...first, ...named].includes(name));
  return [...first, ...named, ...own].map((name): Line => {
    const value = known.get(name) ?? 0;
    return [name, DECIMAL_NAMES.has(name) ? formatDecimal(value) : Math.floor(value)];
  });
}

function summaries(context: FiguresContext): Line[] {
  const known = new Map(summariesOf(context));
  const all = [...SUMMARY_NAMES, ...PERCENTILE_NAMES];
  return all.flatMap((name) => {
    const summary = known.get(name);
    return summary === undefined ? [] : linesOf(name, summary, PERCENTILE_NAMES.includes(name));
  });
}

function linesOf(name: string, summary: SummaryView, hasPercentiles: boolean): Line[] {
  const lines: Line[] = [
    [`avg_${name}`, formatDecimal(summary.average)],
    [`min_${name}`, Math.floor(summary.min)],
    [`max_${name}`, Math.floor(summary.max)],
    [`cnt_${name}`, summary.count],
    [`sum_${name}`, Math.floor(summary.sum)],
  ];
  if (!hasPercentiles) return lines;
  const percentiles = PERCENTILES.map(([prefix, share]): Line => {
    return [`${prefix}_${name}`, Math.floor(summary.percentile(share))];
  });
  return [...lines, ...percentiles];
}
