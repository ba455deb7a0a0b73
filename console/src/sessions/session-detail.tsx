/**
 * One session: its client, what it owns and watches, and the button that ends it.
 */
import { useCallback, useState } from 'react';
import { useConsole } from '../console-context.js';
import { DetailPane, isGone } from '../live/detail-pane.js';
import { countText, millisText, spanText } from '../live/format.js';
import { Age } from '../live/now.js';
import { usePolled } from '../live/use-polled.js';
import { hrefOf } from '../router/route.js';
import { Icon } from '../ui/icon.js';
import { EndSession } from './end-session.js';
import { clientOf, type SessionDetail, type WatchedPath } from './session.js';

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
  const mayEnd = can('DELETE', '/sessions/{id}') && detail !== null && !isGone(error);
  const action = mayEnd ? (
    <button
      type="button"
      className="button button-danger button-small"
      onClick={() => setIsEnding(true)}
    >
      <Icon name="stop" /> End the session
    </button>
  ) : null;
  return (
    <DetailPane
      label={`Session ${id}`}
      group="Sessions"
      heading={<h2 className="code session-title">{id}</h2>}
      action={action}
      error={error}
      gone="The session has ended, and what it owned is gone."
      onRetry={refresh}
      onClose={onClose}
    >
      {detail === null ? null : <Facts detail={detail} isEnded={isGone(error)} />}
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
    </DetailPane>
  );
}

function Facts(props: { readonly detail: SessionDetail; readonly isEnded: boolean }) {
  const { detail, isEnded } = props;
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
              {expiresInMs === null || isEnded ? null : (
                <span className="soft">
                  , expires in {spanText(expiresInMs)}, twice peerTimeoutMs included, unless its
                  client is heard from
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
      <Paths
        title="Owns"
        none="It owns no ephemeral znode."
        untold="No server tells what it owns."
        paths={ephemeralPaths?.map((path) => ({ path })) ?? null}
        isCut={detail.ephemeralPathsTruncated === true}
      />
      <Paths
        title="Watches"
        none="It watches nothing."
        untold="No server tells what it watches."
        paths={watched ?? null}
        isCut={detail.watchedTruncated === true}
      />
    </>
  );
}

interface PathsProps {
  readonly title: string;
  /** What to say where there are none, and where nobody tells. */
  readonly none: string;
  readonly untold: string;
  readonly paths: readonly WatchedPath[] | null;
  /** Whether there are more than the server tells. */
  readonly isCut: boolean;
}

function Paths({ title, none, untold, paths, isCut }: PathsProps) {
  const [isWhole, setIsWhole] = useState(false);
  if (paths === null) {
    return (
      <section className="section">
        <h2>{title}</h2>
        <p className="faint">{untold}</p>
      </section>
    );
  }
  const shown = isWhole ? paths : paths.slice(0, PATHS_SHOWN);
  return (
    <section className="section">
      <h2>
        {title}{' '}
        <span className="badge">
          {countText(paths.length)}
          {isCut ? '+' : ''}
        </span>
      </h2>
      {paths.length === 0 ? <p className="faint">{none}</p> : null}
      <ul className="path-list">
        {shown.map(({ path, mode = null }) => (
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
      {isCut ? <p className="faint">The server lists no more of them.</p> : null}
    </section>
  );
}
