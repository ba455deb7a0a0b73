/**
 * An event in a list: when, at which member, what happened in words, and its facts on demand.
 */
import { clockText } from '../live/format.js';
import { useNow } from '../live/now.js';
import { type Level, type MemberEvent, nameOf, sentenceOf } from './member-event.js';

const BADGES: Readonly<Record<Level, string>> = {
  info: '',
  warn: 'badge-warn',
  error: 'badge-bad',
  fatal: 'badge-bad',
};

export function EventRow(props: { readonly event: MemberEvent; readonly hasMembers: boolean }) {
  const { event, hasMembers } = props;
  const { time, level, member, facts } = event;
  const nowMs = useNow();
  const hasFacts = Object.keys(facts).length > 0;
  const line = (
    <>
      <time className="event-time code" dateTime={time}>
        {clockText(Date.parse(time), { precise: true, nowMs })}
      </time>
      {hasMembers ? <span className="badge badge-accent">Member {member}</span> : null}
      <span className="event-what">
        {hasMembers ? '' : 'It '}
        {sentenceOf(event)}
      </span>
      {level === 'info' ? null : <span className={`badge ${BADGES[level]}`}>{level}</span>}
      <span className="event-name code">{nameOf(event)}</span>
    </>
  );
  if (!hasFacts) return <li className={`event event-${level} event-line`}>{line}</li>;
  return (
    <li className={`event event-${level}`}>
      <details>
        <summary className="event-line">{line}</summary>
        <dl className="facts event-facts">
          {Object.entries(facts).map(([name, value]) => (
            <Fact key={name} name={name} value={value} />
          ))}
        </dl>
      </details>
    </li>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd className="code">{typeof value === 'string' ? value : JSON.stringify(value, null, 1)}</dd>
    </>
  );
}
