/**
 * A member at a glance: whether it serves and leads, how far it is, and what it has left.
 */
import type { ReactNode } from 'react';
import { bytesText, countText, millisText, spanText, zxidText } from '../live/format.js';
import { Icon } from '../ui/icon.js';
import { isLeading, isServing, lagOf, type Member } from './member.js';

export interface MemberCardProps {
  readonly member: Member;
  readonly members: readonly Member[];
  /** Whether this console is served by it. */
  readonly isSelf: boolean;
  /** The class that gives its line in the charts its colour. */
  readonly series: string;
}

export function MemberCard({ member, members, isSelf, series }: MemberCardProps) {
  const { id, host, client, answers, release, uptimeMs } = member;
  const address = client === undefined ? host : `${client.host}:${client.port}`;
  const state = isLeading(member) ? 'leading' : isServing(member) ? 'serving' : 'out';
  return (
    <article className={`member member-${state}`} aria-label={`Member ${id}`}>
      <header className="member-head">
        <span className={`series-dot ${series}`} aria-hidden="true" />
        <h2>Member {id}</h2>
        <Role member={member} />
      </header>
      <p className="member-address">
        <span className="code">{address}</span>
        {release === undefined ? null : <span className="faint"> release {release}</span>}
        {isSelf ? <span className="faint">, serves this page</span> : null}
      </p>
      {answers ? (
        <Figures member={member} members={members} />
      ) : (
        <p className="member-silent">
          It does not answer. It may be stopped, cut off, or of an earlier release.
        </p>
      )}
      {uptimeMs === undefined ? null : (
        <footer className="member-foot faint">
          up for {spanText(uptimeMs)}
          {member.roleForMs === undefined ? '' : `, in its role for ${spanText(member.roleForMs)}`}
        </footer>
      )}
    </article>
  );
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
  return (
    <>
      <dl className="member-figures">
        <Fact title="Zxid">
          {zxids?.applied === undefined ? (
            '-'
          ) : (
            <span className="code">{zxidText(zxids.applied)}</span>
          )}
          {lag === null || lag === 0 ? null : (
            <span className={lag > 100 ? 'warn-text' : 'soft'}> {countText(lag)} behind</span>
          )}
        </Fact>
        <Fact title="Connections">{connections === undefined ? '-' : countText(connections)}</Fact>
        <Fact title="Outstanding">{outstanding === undefined ? '-' : countText(outstanding)}</Fact>
        <Fact title={timings === undefined ? 'Latency' : 'Writes, p99'}>
          {p99 === undefined ? '-' : millisText(p99)}
        </Fact>
        <Fact title="Znodes">{znodes === undefined ? '-' : countText(znodes)}</Fact>
        <Fact title="Memory">{memoryBytes === undefined ? '-' : bytesText(memoryBytes)}</Fact>
      </dl>
      {tree?.bytes === undefined ? null : (
        <Meter title="Tree" value={tree.bytes} max={tree.bytesMax ?? null} />
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
      <span className="meter-track" aria-hidden="true">
        <span
          className={`meter-fill meter-${state}`}
          style={{ width: `${Math.max(1, 100 * share)}%` }}
        />
      </span>
      <span className="soft">{told}</span>
    </div>
  );
}
