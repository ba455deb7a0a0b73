/**
 * The page "Sessions": who is connected to which member from where, what each session owns, and one
 * of them in detail.
 */
import { type ReactNode, useMemo, useState } from 'react';
import { useConsole } from '../console-context.js';
import { countText, millisText, spanText } from '../live/format.js';
import { FilterField, RefreshButton } from '../live/list-controls.js';
import { onListKeys } from '../live/list-keys.js';
import { ListPage } from '../live/list-page.js';
import type { Order } from '../live/order.js';
import { hrefOf } from '../router/route.js';
import { goTo, useRoute } from '../router/use-route.js';
import { ProblemNotice } from '../ui/notice.js';
import {
  type Column,
  clientOf,
  emptyText,
  isFound,
  type Session,
  sessionIdIn,
  sorted,
} from './session.js';
import { SessionDetailView } from './session-detail.js';
import './sessions.css';
import { useSessions } from './use-sessions.js';

const HEADS: readonly (readonly [Column, string])[] = [
  ['session', 'Session'],
  ['client', 'Client'],
  ['member', 'Member'],
  ['timeout', 'Timeout'],
  ['owns', 'Owns'],
  ['latency', 'Latency'],
];

export function Page() {
  const { api } = useConsole();
  const { query } = useRoute();
  const selected = query.get('id');
  const [text, setText] = useState('');
  const [order, setOrder] = useState<Order<Column>>({ column: 'session', isDescending: false });
  const { sessions, count, isAsked, more, error, refresh } = useSessions(api);
  const shown = useMemo(
    () =>
      sorted(
        sessions.filter((one) => isFound(one, text)),
        order,
      ),
    [sessions, text, order],
  );
  const openTyped = (): void => {
    const id = sessionIdIn(text);
    if (id !== null) goTo('sessions', { id });
  };
  const actions = (
    <>
      <span className="view-status">
        {isAsked ? `${countText(shown.length)} of ${countText(count)} sessions` : ''}
      </span>
      <FilterField
        group="Sessions"
        placeholder="Filter by address, id or member"
        value={text}
        onChange={setText}
        onEnter={openTyped}
      />
      <RefreshButton title="Ask again" group="Sessions" onRefresh={refresh} />
    </>
  );
  const notes = <ProblemNotice error={error} onRetry={refresh} />;
  const detail =
    selected === null ? null : (
      <SessionDetailView
        key={selected}
        id={selected}
        onClose={() => goTo('sessions')}
        onEnded={refresh}
      />
    );
  return (
    <ListPage title="Sessions" actions={actions} notes={notes} detail={detail}>
      <table className="table sessions-table">
        <thead>
          <tr>
            {HEADS.map(([column, title]) => (
              <Head key={column} column={column} order={order} onOrder={setOrder}>
                {title}
              </Head>
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={onListKeys}>
          {shown.map((one) => (
            <Row key={one.session} session={one} isSelected={one.session === selected} />
          ))}
        </tbody>
      </table>
      {shown.length > 0 ? null : <div className="empty">{emptyText(isAsked, count)}</div>}
      {more === null ? null : (
        <div className="view-foot">
          <button type="button" className="button" onClick={more}>
            Show more
          </button>
        </div>
      )}
    </ListPage>
  );
}

interface HeadProps {
  readonly column: Column;
  readonly order: Order<Column>;
  readonly onOrder: (order: Order<Column>) => void;
  readonly children: ReactNode;
}

function Head({ column, order, onOrder, children }: HeadProps) {
  const isBy = order.column === column;
  const isNumber = column === 'owns' || column === 'latency' || column === 'timeout';
  const isDescending = isBy ? !order.isDescending : isNumber;
  const direction = order.isDescending ? 'descending' : 'ascending';
  return (
    <th aria-sort={isBy ? direction : 'none'} className={isNumber ? 'number' : undefined}>
      <button
        type="button"
        className="sort-button"
        onClick={() => onOrder({ column, isDescending })}
      >
        {children}
        <span aria-hidden="true">{isBy ? (order.isDescending ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}

function Row(props: { readonly session: Session; readonly isSelected: boolean }) {
  const { session: one, isSelected } = props;
  const { timeoutMs, ephemerals, member, address, connection } = one;
  const average = connection?.averageLatencyMs ?? null;
  return (
    <tr aria-current={isSelected ? 'true' : undefined}>
      <td>
        <a className="code" data-row="" href={hrefOf('sessions', { id: one.session })}>
          {one.session}
        </a>
        {one.closing === true ? <span className="badge badge-warn">ending</span> : null}
      </td>
      <td className={address === null ? 'warn-text' : address === '' ? 'soft' : 'code'}>
        {clientOf(one)}
      </td>
      <td>{member ?? <span className="faint">-</span>}</td>
      <td className="number">{timeoutMs === null ? '-' : spanText(timeoutMs)}</td>
      <td className="number">{ephemerals ?? '-'}</td>
      <td className="number">{average === null ? '-' : millisText(average)}</td>
    </tr>
  );
}
