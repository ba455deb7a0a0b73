/**
 * The page "Ensemble": who leads, how each member does, charts of the last minutes, and the
 * elections, slow disks and expiries that explain them.
 */
import { useConsole } from '../console-context.js';
import { type LiveEvents, useEvents } from '../events/use-events.js';
import { useShortcuts } from '../keyboard/use-shortcuts.js';
import { PageFrame } from '../layout/page-frame.js';
import { NowProvider } from '../live/now.js';
import '../live/views.css';
import type { Api } from '../api/api.js';
import { Notice, ProblemNotice } from '../ui/notice.js';
import { Charts } from './charts.js';
import './ensemble.css';
import { HottestRequests } from './hottest.js';
import { verdictOf } from './member.js';
import { MemberCard } from './member-card.js';
import { type LookedAt, useMembers } from './use-members.js';

export function Page() {
  const { api, can } = useConsole();
  return can('GET', '/events') ? <WithEvents api={api} /> : <View api={api} live={null} />;
}

function WithEvents({ api }: { readonly api: Api }) {
  return <View api={api} live={useEvents(api)} />;
}

function View({ api, live }: { readonly api: Api; readonly live: LiveEvents | null }) {
  const { value: look, error, refresh } = useMembers(api);
  useShortcuts([{ keys: 'r', title: 'Ask again', group: 'Ensemble', run: refresh }]);
  return (
    <NowProvider>
      <PageFrame title="Ensemble">
        <div className="ensemble">
          <ProblemNotice error={error} onRetry={refresh} />
          {look === null && error === null ? (
            <output className="empty">Asking the members …</output>
          ) : null}
          {look === null ? null : <Body look={look} live={live} api={api} />}
        </div>
      </PageFrame>
    </NowProvider>
  );
}

interface BodyProps {
  readonly look: LookedAt;
  readonly live: LiveEvents | null;
  readonly api: Api;
}

function Body({ look, live, api }: BodyProps) {
  const { can } = useConsole();
  const { members, self } = look;
  const { kind, sentence } = verdictOf(members);
  return (
    <>
      <Notice kind={kind}>{sentence}</Notice>
      <div className="members">
        {members.map((member) => (
          <MemberCard
            key={member.id}
            member={member}
            members={members}
            isSelf={member.id === self}
          />
        ))}
      </div>
      {can('GET', '/hot') ? <HottestRequests api={api} /> : null}
      <Charts look={look} events={live?.events ?? null} />
    </>
  );
}
