/**
 * A member at a glance: whether it serves and leads, how far it is, and what it has left.
 */

import type { ReactNode } from 'react';
import { addressText } from '../live/address-text.js';
import { bytesText, countText, millisText, spanText, zxidText } from '../live/format.js';
import { Icon } from '../ui/icon.js';
import { isLeading, isServing, lagOf, type Member } from './member.js';
import { SeriesDot } from './series-dot.js';

export interface MemberCardProps {
  readonly member: Member;
  readonly members: readonly Member[];
  /** Whether this console is served by it. */
  readonly isSelf: boolean;
}

export function MemberCard({ member, members, isSelf }: MemberCardProps) {
  const { id, host, client, answers } = member;
  const { release = null, uptimeMs = null, roleForMs = null } = member;
  const address = client === undefined ? host : addressText(client.host, client.port);
  const state = isLeading(member) ? 'leading' : isServing(member) ? 'serving' : 'out';
  return (
    <article className={`member member-${state}`} aria-label={`Member ${id}`}>
      <header className="member-head">
        <SeriesDot member={id} />
        <h2>Member {id}</h2>
        <Role member={member} />
      </header>
      <p className="member-address">
        <span className="code">{address}</span>
        {release === null ? null : <span className="faint"> {releaseText(release)}</span>}
        {isSelf ? <span className="faint">, serves this page</span> : null}
      </p>
      {answers ? (
        <Figures member={member} members={members} />
      ) : (
        <p className="member-silent">It does not answer. It may be stopped or cut off.</p>
      )}
      {uptimeMs === null ? null : (
        <footer className="member-foot faint">
          up for {spanText(uptimeMs)}
          {roleForMs === null ? '' : `, in its role for ${spanText(roleForMs)}`}
        </footer>
      )}
    </article>
  );
}

/** The number of the release, without the date of its build. */
function releaseText(release: string): string {
  return release.split(/[,\s]/, 1)[0] ?? release;
}

function Role({ member }: { readonly member: Member }) {
  const { answers, mode, role } = member;
  if (!answers) return <span className="badge badge-bad">No answer</span>;
  if (isLeading(member)) {
    return (
      <span className="badge badge-leader">
        <Icon name="star" /> {mode === 'standalone' ? 'Standalone' : 'Leader'}
      </span>
    );
  }
  if (!isServing(member)) {
    return (
      <span className="badge badge-warn">{role === 'looking' ? 'Electing' : 'Does not serve'}</span>
    );
  }
  return <span className="badge badge-good">{titleOf(mode ?? role ?? 'follower')}</span>;
}

function titleOf(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Figures({ member, members }: Pick<MemberCardProps, 'member' | 'members'>) {
  const { zxids, connections, outstanding, znodes, memoryBytes, tree, disk, timings } = member;
  const lag = lagOf(member, members);
  const p99 = timings?.updates?.p99Ms ?? member.latencyMs?.average;
  const used = (disk?.dataBytes ?? 0) + (disk?.logBytes ?? 0);
  const free = disk?.freeBytes ?? null;
  const treeBytes = tree?.bytes ?? null;
  return (
    <>
      <dl className="member-figures">
        <Fact title="Zxid">
          <span className="code">{zxidText(zxids?.applied ?? '-')}</span>
          {lag === null || lag === 0 ? null : (
            <span className={lag > LAG_NOTED ? 'warn-text' : 'soft'}> {countText(lag)} behind</span>
          )}
        </Fact>
        <Fact title="Connections">{told(connections, countText)}</Fact>
        <Fact title="Outstanding">{told(outstanding, countText)}</Fact>
        <Fact title={timings === undefined ? 'Latency' : 'Writes, p99'}>
          {told(p99, millisText)}
        </Fact>
        <Fact title="Znodes">{told(znodes, countText)}</Fact>
        <Fact title="Memory">{told(memoryBytes, bytesText)}</Fact>
      </dl>
      {treeBytes === null ? null : (
        <Meter title="Tree" value={treeBytes} max={tree?.bytesMax ?? null} />
      )}
      {free === null ? null : (
        <Meter
          title="Disk"
          value={used}
          max={used + free}
          text={`${bytesText(used)}, ${bytesText(free)} free`}
          isBad={disk?.isFull === true}
        />
      )}
    </>
  );
}

/** Under load members are not looked at in one moment, so a few mean nothing. */
const LAG_NOTED = 100;

function told(value: number | null | undefined, text: (value: number) => string): string {
  return value === null || value === undefined ? '-' : text(value);
}

function Fact(props: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{props.title}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

interface MeterProps {
  readonly title: string;
  readonly value: number;
  readonly max: number | null;
  readonly text?: string;
  readonly isBad?: boolean;
}

const NEARLY_FULL = 0.8;

function Meter({ title, value, max, text, isBad = false }: MeterProps) {
  const share = max === null || max === 0 ? 0 : Math.min(1, value / max);
  const told = text ?? `${bytesText(value)}${max === null ? '' : ` of ${bytesText(max)}`}`;
  const state = isBad ? 'bad' : share > NEARLY_FULL ? 'warn' : 'good';
  return (
    <div className="meter">
      <span>{title}</span>
      {max === null ? (
        <span />
      ) : (
        <span className="meter-track" aria-hidden="true">
          <span
            className={`meter-fill meter-${state}`}
            style={{ width: `${Math.max(1, 100 * share)}%` }}
          />
        </span>
      )}
      <span className="soft">{told}</span>
    </div>
  );
}
