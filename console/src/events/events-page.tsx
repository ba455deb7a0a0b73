/**
 * The page "Events": what happened at all members, the newest first, as it happens.
 */
import { useMemo, useState } from 'react';
import { useConsole } from '../console-context.js';
import { useShortcuts } from '../keyboard/use-shortcuts.js';
import { PageFrame } from '../layout/page-frame.js';
import { countText } from '../live/format.js';
import { FilterField } from '../live/list-controls.js';
import { NowProvider } from '../live/now.js';
import '../live/views.css';
import { Chip } from '../ui/chip.js';
import { Icon } from '../ui/icon.js';
import { Notice, ProblemNotice } from '../ui/notice.js';
import { EventRow } from './event-row.js';
import './events.css';
import {
  factsText,
  keyOf,
  type MemberEvent,
  sentenceOf,
  TOPICS,
  type Topic,
  topicOf,
} from './member-event.js';
import { type LiveEvents, useEvents } from './use-events.js';

/** The number of matching events that are drawn at first; older ones follow when asked for. */
const SHOWN = 200;

interface Filter {
  readonly topic: Topic | null;
  readonly member: number | null;
  readonly isSevere: boolean;
  readonly text: string;
}

export function Page() {
  const { api } = useConsole();
  const live = useEvents(api);
  const [held, setHeld] = useState<readonly MemberEvent[] | null>(null);
  const [limit, setLimit] = useState(SHOWN);
  const [filter, setFilter] = useState<Filter>({
    topic: null,
    member: null,
    isSevere: false,
    text: '',
  });
  const events = held ?? live.events;
  const members = [...new Set(live.events.map(({ member }) => member))]
    .filter((member) => member !== undefined)
    .sort((a, b) => a - b);
  const found = useMemo(
    () => events.filter((event) => matches(event, filter)).toReversed(),
    [events, filter],
  );
  const toggle = () => setHeld(held === null ? live.events : null);
  useShortcuts([{ keys: ' ', title: 'Hold the list, or go on', group: 'Events', run: toggle }]);
  const missed = held === null ? 0 : live.events.length - held.length;
  const actions = (
    <div className="view-filters">
      <span className="view-status">{countText(found.length)} events</span>
      <FilterField
        group="Events"
        placeholder="Filter by words or facts"
        value={filter.text}
        onChange={(text) => setFilter({ ...filter, text })}
      />
      <button type="button" className="button" aria-pressed={held !== null} onClick={toggle}>
        <Icon name={held === null ? 'stop' : 'right'} />
        {held === null ? 'Hold' : `Go on${missed > 0 ? ` (${missed} new)` : ''}`}
      </button>
    </div>
  );
  return (
    <NowProvider>
      <PageFrame title="Events" actions={actions} isFlush>
        <div className="view">
          <div className="event-filters">
            <Chips filter={filter} onFilter={setFilter} members={members} />
            <Notices live={live} />
          </div>
          <div className="view-list">
            <ol className="row-list" aria-label="Events">
              {found.slice(0, limit).map((event) => (
                <EventRow key={keyOf(event)} event={event} hasMembers={members.length > 1} />
              ))}
            </ol>
            {found.length > 0 ? null : (
              <div className="empty">
                {live.isAsked ? 'No event matches the filter.' : 'Asking the members …'}
              </div>
            )}
            {found.length > limit ? (
              <div className="view-foot">
                <button type="button" className="button" onClick={() => setLimit(limit + SHOWN)}>
                  Show older ones
                </button>
              </div>
            ) : null}
          </div>
        </div>
      </PageFrame>
    </NowProvider>
  );
}

function matches(event: MemberEvent, { topic, member, isSevere, text }: Filter): boolean {
  if (topic !== null && topicOf(event) !== topic) return false;
  if (member !== null && event.member !== member) return false;
  if (isSevere && event.level === 'info') return false;
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return true;
  const texts = [event.event, sentenceOf(event), factsText(event.facts), event.time];
  return texts.some((one) => one.toLowerCase().includes(wanted));
}

function Notices({ live }: { readonly live: LiveEvents }) {
  const { error, silent, lost } = live;
  return (
    <>
      <ProblemNotice error={error} />
      {silent.length === 0 ? null : (
        <Notice kind="warn">
          Member {silent.join(' and ')} did not answer, so its events are missing here.
        </Notice>
      )}
      {lost === 0 ? null : (
        <Notice kind="warn">{countText(lost)} events are gone: members keep the last 1000.</Notice>
      )}
    </>
  );
}

interface ChipsProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly members: readonly number[];
}

const TOPIC_NAMES = Object.keys(TOPICS) as Topic[];

function Chips({ filter, onFilter, members }: ChipsProps) {
  const { topic, member, isSevere } = filter;
  return (
    <div className="view-filters">
      <Chip isOn={topic === null} onClick={() => onFilter({ ...filter, topic: null })}>
        All
      </Chip>
      {TOPIC_NAMES.map((one) => (
        <Chip
          key={one}
          isOn={topic === one}
          onClick={() => onFilter({ ...filter, topic: topic === one ? null : one })}
        >
          {TOPICS[one]}
        </Chip>
      ))}
      <span className="chip-gap" />
      <Chip isOn={isSevere} onClick={() => onFilter({ ...filter, isSevere: !isSevere })}>
        Warnings and errors
      </Chip>
      {members.length < 2 ? null : <span className="chip-gap" />}
      {members.length < 2
        ? null
        : members.map((one) => (
            <Chip
              key={one}
              isOn={member === one}
              onClick={() => onFilter({ ...filter, member: member === one ? null : one })}
            >
              Member {one}
            </Chip>
          ))}
    </div>
  );
}
