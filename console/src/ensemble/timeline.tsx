/**
 * Elections, slow disks and expiries on the time axis of the charts; the one that is chosen is
 * marked in all of them. An event is drawn when it is heard, and waits for no look at the members.
 */
import {
  keyOf,
  type MemberEvent,
  sentenceOf,
  TOPICS,
  type Topic,
  topicOf,
} from '../events/member-event.js';
import { clockText } from '../live/format.js';

export interface TimelineProps {
  /** The notable ones, the oldest first. */
  readonly events: readonly MemberEvent[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly chosen: string | null;
  readonly onChoose: (key: string | null) => void;
}

export const COLOURS: Readonly<Record<Topic, string>> = {
  election: '--warn',
  disk: '--bad',
  session: '--violet',
  member: '--accent',
  other: '--text-faint',
};
const LANES: readonly Topic[] = ['election', 'disk', 'session', 'member', 'other'];
/** More in one lane would cover each other. */
const PER_LANE_MAX = 100;

export function Timeline({ events, fromMs, toMs, chosen, onChoose }: TimelineProps) {
  const lanes = LANES.map((topic) => ({
    topic,
    events: events.filter((event) => topicOf(event) === topic).slice(-PER_LANE_MAX),
  })).filter((lane) => lane.events.length > 0);
  if (lanes.length === 0) {
    return (
      <p className="timeline-none faint">No election, slow disk, expiry or warning in this time.</p>
    );
  }
  return (
    <div className="timeline">
      {lanes.map((lane) => (
        <div key={lane.topic} className="timeline-lane">
          <span className="timeline-title">{TOPICS[lane.topic]}</span>
          <div className="timeline-track">
            {lane.events.map((event) => (
              <Marker
                key={keyOf(event)}
                event={event}
                share={Math.min(1, (Date.parse(event.time) - fromMs) / (toMs - fromMs))}
                isChosen={keyOf(event) === chosen}
                onChoose={onChoose}
              />
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}

interface MarkerProps {
  readonly event: MemberEvent;
  readonly share: number;
  readonly isChosen: boolean;
  readonly onChoose: (key: string | null) => void;
}

function Marker({ event, share, isChosen, onChoose }: MarkerProps) {
  const key = keyOf(event);
  const who = event.member === undefined ? 'The member' : `Member ${event.member}`;
  const label = `${clockText(Date.parse(event.time))} ${who} ${sentenceOf(event)}`;
  return (
    <button
      type="button"
      className={`marker marker-${topicOf(event)}`}
      aria-label={label}
      aria-pressed={isChosen}
      data-time={event.time}
      title={label}
      style={{ left: `${100 * share}%` }}
      onClick={() => onChoose(isChosen ? null : key)}
    />
  );
}
