/**
 * One session: its client, what it owns and watches, and the button that ends it.
 */
import { useCallback, useState } from 'react';
import { ApiProblem } from '../api/problem.js';
import { useConsole } from '../console-context.js';
import { useShortcuts } from '../keyboard/use-shortcuts.js';
import { countText, millisText, spanText } from '../live/format.js';
import { Age } from '../live/now.js';
import { usePolled } from '../live/use-polled.js';
import { hrefOf } from '../router/route.js';
import { Icon } from '../ui/icon.js';
import { Notice, ProblemNotice } from '../ui/notice.js';
import { EndSession } from './end-session.js';
import { clientOf, type SessionDetail } from './session.js';

const EVERY_MS = 2_000;
/** The paths of one kind that are drawn before somebody asks for all. */
const PATHS_SHOWN = 100;

export interface SessionDetailProps {
  readonly id: string;
  readonly onClose: () => void;
  readonly onEnded: () => void;
}

export function SessionDetailView({ id, onClose, onEnded }: SessionDetailProps) {
  const { api, can } = useConsole();
  const [isEnding, setIsEnding] = useState(false);
  const ask = useCallback(
    (signal: AbortSignal) =>
      api.get<SessionDetail>(`/sessions/${encodeURIComponent(id)}`, {}, signal),
    [api, id],
  );
  const { value: detail, error, refresh } = usePolled(ask, EVERY_MS);
  useShortcuts([{ keys: 'Escape', title: 'Close the detail', group: 'Sessions', run: onClose }]);
  const isGone = error instanceof ApiProblem && error.status === 404;
  const mayEnd = can('DELETE', '/sessions/{id}') && detail !== null && !isGone;
  return (
    <section className="view-detail" aria-label={`Session ${id}`}>
      <header className="detail-head">
        <h2 className="code session-title">{id}</h2>
        {mayEnd ? (
          <button
            type="button"
            className="button button-danger button-small"
            onClick={() => setIsEnding(true)}
          >
            <Icon name="stop" /> End the session
          </button>
        ) : null}
        <button
          type="button"
          className="button button-quiet button-icon button-small"
          aria-label="Close the detail"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      {isGone ? (
        <Notice kind="warn">The session has ended, and what it owned is gone.</Notice>
      ) : error === null ? null : (
        <ProblemNotice error={error} onRetry={refresh} />
      )}
      {detail === null ? null : <Facts detail={detail} isGone={isGone} />}
      {isEnding && detail !== null ? (
        <EndSession
          detail={detail}
          onClose={() => setIsEnding(false)}
          onEnded={() => {
            refresh();
            onEnded();
          }}
        />
      ) : null}
    </section>
  );
}

function Facts(props: { readonly detail: SessionDetail; readonly isGone: boolean }) {
  const { detail, isGone } = props;
  const { timeoutMs, expiresInMs = null, member, connection, ephemeralPaths, watched } = detail;
  const established = connection?.established ?? null;
  const average = connection?.averageLatencyMs ?? null;
  const max = connection?.maxLatencyMs ?? null;
  return (
    <>
      <dl className="facts">
        <dt>Client</dt>
        <dd className={detail.address === null ? 'warn-text' : undefined}>{clientOf(detail)}</dd>
        {member === null || member === undefined ? null : (
          <>
            <dt>Member</dt>
            <dd>{member}</dd>
          </>
        )}
        {timeoutMs === null ? null : (
          <>
            <dt>Timeout</dt>
            <dd>
              {spanText(timeoutMs)}
              {expiresInMs === null || isGone ? null : (
                <span className="soft">
                  , expires in {spanText(expiresInMs)} unless its client is heard from
                </span>
              )}
            </dd>
          </>
        )}
        {established === null ? null : (
          <>
            <dt>Connected for</dt>
            <dd>
              <Age ms={established} />
            </dd>
          </>
        )}
        {average === null || max === null ? null : (
          <>
            <dt>Latency</dt>
            <dd>
              {millisText(average)} on average, {millisText(max)} at most
            </dd>
          </>
        )}
        {connection === null || connection === undefined ? null : (
          <>
            <dt>Packets</dt>
            <dd>
              {countText(connection.received ?? 0)} received, {countText(connection.sent ?? 0)}{' '}
              sent, {countText(connection.outstanding ?? 0)} waiting; the last operation was{' '}
              <span className="code">{connection.lastOperation ?? '-'}</span>
            </dd>
          </>
        )}
      </dl>
      {ephemeralPaths === null ? (
        <section className="section">
          <h2>Owns</h2>
          <p className="faint">No server tells what it owns.</p>
        </section>
      ) : (
        <Paths
          title="Owns"
          none="It owns no ephemeral znode."
          paths={ephemeralPaths.map((path) => ({ path, mode: null }))}
        />
      )}
      {watched === null || watched === undefined ? (
        <section className="section">
          <h2>Watches</h2>
          <p className="faint">No server tells what it watches.</p>
        </section>
      ) : (
        <Paths
          title="Watches"
          none="It watches nothing."
          paths={watched.map(({ path, mode = null }) => ({ path, mode }))}
        />
      )}
    </>
  );
}

interface PathsProps {
  readonly title: string;
  readonly none: string;
  readonly paths: readonly { readonly path: string; readonly mode: string | null }[];
}

function Paths({ title, none, paths }: PathsProps) {
  const [isWhole, setIsWhole] = useState(false);
  const shown = isWhole ? paths : paths.slice(0, PATHS_SHOWN);
  return (
    <section className="section">
      <h2>
        {title} <span className="badge">{countText(paths.length)}</span>
      </h2>
      {paths.length === 0 ? <p className="faint">{none}</p> : null}
      <ul className="path-list">
        {shown.map(({ path, mode }) => (
          <li key={`${mode} ${path}`}>
            <a className="path" href={hrefOf('node', { path })}>
              {path}
            </a>
            {mode === null ? null : <span className="badge">{mode}</span>}
          </li>
        ))}
      </ul>
      {shown.length === paths.length ? null : (
        <button type="button" className="button button-small" onClick={() => setIsWhole(true)}>
          Show all {countText(paths.length)}
        </button>
      )}
    </section>
  );
}
