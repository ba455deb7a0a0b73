/**
 * The charts with the timeline below them, over one time axis.
 */
import { lazy, Suspense, useMemo, useState } from 'react';
import { EventRow } from '../events/event-row.js';
import '../events/events.css';
import { isNotable, keyOf, type MemberEvent, topicOf } from '../events/member-event.js';
import { Chip } from '../ui/chip.js';
import type { Mark } from './line-chart.js';
import { type ChartSpec, chartsOf, type Line, linesOf } from './series.js';
import { SeriesDot } from './series-dot.js';
import { COLOURS, Timeline } from './timeline.js';
import type { LookedAt } from './use-members.js';

const LineChart = lazy(async () => ({ default: (await import('./line-chart.js')).LineChart }));

const SPANS = [
  { minutes: 2, title: '2 min' },
  { minutes: 5, title: '5 min' },
  { minutes: 15, title: '15 min' },
] as const;
const LISTED = 30;

export interface ChartsProps {
  readonly look: LookedAt;
  /** Null where nobody tells events, as ZooKeeper does not. */
  readonly events: readonly MemberEvent[] | null;
}

export function Charts({ look, events }: ChartsProps) {
  const [minutes, setMinutes] = useState<number>(SPANS[0].minutes);
  const [chosen, setChosen] = useState<string | null>(null);
  const { atMs: toMs, points, members } = look;
  const fromMs = toMs - 60_000 * minutes;
  const notable = useMemo(() => (events ?? []).filter(isNotable), [events]);
  // What has happened since the last look, or by a clock ahead of this one, is at the right end.
  const shown = notable.filter(({ time }) => Date.parse(time) >= fromMs);
  const marks: readonly Mark[] = shown.map((event) => ({
    atMs: Math.min(Date.parse(event.time), toMs),
    colour: COLOURS[topicOf(event)],
    isChosen: keyOf(event) === chosen,
  }));
  const ids = members.map(({ id }) => id);
  const charts = chartsOf(members).map((spec) => ({
    spec,
    lines: linesOf(spec.figure, { points, members: ids }, fromMs),
  }));
  return (
    <section className="charts" aria-label="Charts and timeline">
      <header className="charts-head">
        <h2>The last {minutes} minutes</h2>
        <div className="view-filters">
          {SPANS.map(({ minutes: one, title }) => (
            <Chip key={one} isOn={one === minutes} onClick={() => setMinutes(one)}>
              {title}
            </Chip>
          ))}
        </div>
      </header>
      {events === null ? null : (
        <Timeline events={shown} fromMs={fromMs} toMs={toMs} chosen={chosen} onChoose={setChosen} />
      )}
      <div className="charts-grid">
        {charts.map(({ spec, lines }) => (
          <figure key={spec.figure} className="chart">
            <figcaption title={spec.help}>
              <span className="chart-title">{spec.title}</span>
              <Legend spec={spec} lines={lines} />
            </figcaption>
            <Suspense fallback={<div className="chart-canvas" />}>
              <LineChart spec={spec} lines={lines} fromMs={fromMs} toMs={toMs} marks={marks} />
            </Suspense>
          </figure>
        ))}
      </div>
      {notable.length === 0 ? null : (
        <section className="section" aria-label="What happened">
          <h2>
            What happened <a href="#/events">all events</a>
          </h2>
          <ol className="row-list charts-events">
            {notable
              .slice(-LISTED)
              .toReversed()
              .map((event) => (
                <EventRow
                  key={keyOf(event)}
                  event={event}
                  hasMembers={event.member !== undefined}
                />
              ))}
          </ol>
        </section>
      )}
    </section>
  );
}

interface LegendProps {
  readonly spec: ChartSpec;
  readonly lines: readonly Line[];
}

function Legend({ spec, lines }: LegendProps) {
  return (
    <span className="legend">
      {lines.map(({ member, newest }) => (
        <span key={member} className="legend-item">
          <SeriesDot member={member} />
          <span className="visually-hidden">Member {member}: </span>
          {newest === null ? '-' : spec.text(newest)}
        </span>
      ))}
    </span>
  );
}
