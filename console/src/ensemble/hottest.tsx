/**
 * The hottest paths and clients of the ensemble, where the API tells them.
 *
 * Members watch their requests while somebody asks, so nothing is asked before it is opened.
 */
import { useCallback, useState } from 'react';
import type { Api } from '../api/api.js';
import { nodeHref } from '../explorer/open-node.js';
import { shown } from '../explorer/paths.js';
import { usePolled } from '../live/use-polled.js';
import { hrefOf } from '../router/route.js';
import { ProblemNotice } from '../ui/notice.js';
import { type Hottest, rateText, totalsText } from './hot.js';

const EVERY_MS = 3_000;
const LISTED = 20;

export function HottestRequests({ api }: { readonly api: Api }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section className="section hottest" aria-label="Hottest paths and clients">
      <h2>Hottest paths and clients</h2>
      <button
        type="button"
        className="button button-small"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? 'Stop watching' : 'Watch the requests'}
      </button>
      {isOpen ? <Lists api={api} /> : null}
    </section>
  );
}

function Lists({ api }: { readonly api: Api }) {
  const ask = useCallback(
    (signal: AbortSignal) => api.get<Hottest>('/hot', { limit: LISTED }, signal),
    [api],
  );
  const { value, error, refresh } = usePolled(ask, EVERY_MS);
  const isEmpty = value !== null && value.paths.length + value.clients.length === 0;
  return (
    <>
      <ProblemNotice error={error} onRetry={refresh} />
      <output className="soft">{value === null ? 'Asking …' : totalsText(value)}</output>
      {value === null || isEmpty ? null : (
        <div className="hottest-lists">
          <Paths paths={value.paths} />
          <Clients clients={value.clients} />
        </div>
      )}
    </>
  );
}

function Paths({ paths }: Pick<Hottest, 'paths'>) {
  return (
    <table className="table" aria-label="Hottest paths">
      <thead>
        <tr>
          <th className="number">Reads/s</th>
          <th className="number">Writes/s</th>
          <th>Path</th>
        </tr>
      </thead>
      <tbody>
        {paths.map(({ path, readsPerSecond, writesPerSecond }) => (
          <tr key={path}>
            <td className="number">{rateText(readsPerSecond)}</td>
            <td className="number">{rateText(writesPerSecond)}</td>
            <td className="hottest-path">
              <a className="code" href={nodeHref(path)}>
                {shown(path)}
              </a>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Clients({ clients }: Pick<Hottest, 'clients'>) {
  return (
    <table className="table" aria-label="Hottest clients">
      <thead>
        <tr>
          <th className="number">Requests/s</th>
          <th>Client</th>
          <th>Member</th>
          <th>Session</th>
        </tr>
      </thead>
      <tbody>
        {clients.map(({ session, member, address, requestsPerSecond }) => (
          <tr key={`${member} ${session}`}>
            <td className="number">{rateText(requestsPerSecond)}</td>
            <td>{address === '' ? 'the member itself' : (address ?? 'no longer connected')}</td>
            <td>{member}</td>
            <td>
              <a className="code" href={hrefOf('sessions', { id: session })}>
                {session}
              </a>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
