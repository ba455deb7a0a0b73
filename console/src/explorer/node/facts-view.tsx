/**
 * What is known of a znode, in words: what it is, who made it live, when it changed, and what one
 * may do with it.
 */
import type { ReactNode } from 'react';
import type { NodeFacts } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { useClock } from '../../live/now.js';
import { hrefOf } from '../../router/route.js';
import { PERMISSIONS } from '../acl/acl-rules.js';
import { ageInWords, lengthInWords, momentInWords, numberInWords, sizeInWords } from '../words.js';

const CLOCK_MS = 10_000;

export function FactsView({ facts }: { readonly facts: NodeFacts }) {
  const { stat, mode, ttlMs, descendants, subtreeBytes, may } = facts;
  const nowMs = useClock(CLOCK_MS);
  return (
    <aside className="node-facts" aria-label="Facts">
      <h2>Znode</h2>
      <dl>
        <Fact name="Kind">
          {mode ?? 'unknown'}
          {ttlMs === null ? '' : `, ${lengthInWords(ttlMs)} to live`}
        </Fact>
        {stat.ephemeralOwner === null ? null : <Owner session={stat.ephemeralOwner} />}
        <Fact name="Version">{numberInWords(stat.version)}</Fact>
        <Fact name="Changed">
          <Moment ms={stat.mtime} nowMs={nowMs} />
        </Fact>
        <Fact name="Created">
          <Moment ms={stat.ctime} nowMs={nowMs} />
        </Fact>
        <Fact name="Data">{sizeInWords(stat.dataLength)}</Fact>
        <Fact name="Children">{numberInWords(stat.numChildren)}</Fact>
        {typeof descendants === 'number' ? (
          <Fact name="Below it">{`${numberInWords(descendants)} in all`}</Fact>
        ) : null}
        {typeof subtreeBytes === 'number' ? (
          <Fact name="Data in all">{sizeInWords(subtreeBytes)}</Fact>
        ) : null}
      </dl>
      <h2>You may</h2>
      <ul className="rights">
        {PERMISSIONS.map(({ right, title, tells }) => (
          <li key={right} className={may[right] ? 'right is-given' : 'right'} title={tells}>
            {title}
            <span className="visually-hidden">{may[right] ? ' (yes)' : ' (no)'}</span>
          </li>
        ))}
      </ul>
      <details>
        <summary>zxids and versions</summary>
        <dl>
          <Fact name="Created by">{stat.czxid}</Fact>
          <Fact name="Changed by">{stat.mzxid}</Fact>
          <Fact name="Children by">{stat.pzxid}</Fact>
          <Fact name="Children’s version">{numberInWords(stat.cversion)}</Fact>
          <Fact name="ACL’s version">{numberInWords(stat.aversion)}</Fact>
        </dl>
      </details>
    </aside>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Owner({ session }: { readonly session: string }) {
  const { can } = useConsole();
  return (
    <Fact name="Owner">
      {can('GET', '/sessions/{id}') ? (
        <a className="code" href={hrefOf('sessions', { id: session })}>
          {session}
        </a>
      ) : (
        <span className="code">{session}</span>
      )}
    </Fact>
  );
}

function Moment({ ms, nowMs }: { readonly ms: number; readonly nowMs: number }) {
  // What ZooKeeper made by itself has no time.
  if (ms === 0) return 'never';
  return <span title={momentInWords(ms)}>{ageInWords(ms, nowMs)}</span>;
}
