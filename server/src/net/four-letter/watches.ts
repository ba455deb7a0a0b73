/**
 * `wchs`, `wchc` and `wchp`: data watches in numbers, by session, and by path.
 *
 * As in ZooKeeper these tell of the data watches alone: those of getData and exists, and both kinds
 * of addWatch.
 */
import type { MemberView } from '../member-view.js';
import { formatHex } from './format.js';

export function watchSummaryReply(view: MemberView): string {
  const { connections, paths, watches } = view.watches;
  return `${connections} connections watching ${paths} paths\nTotal watches:${watches}\n`;
}

export function watchesBySessionReply(view: MemberView): string {
  const bySession = new Map<string, string[]>();
  for (const { path, sessions } of view.dataWatches()) {
    for (const id of sessions) {
      const session = `0x${formatHex(id)}`;
      const paths = bySession.get(session);
      if (paths === undefined) bySession.set(session, [path]);
      else paths.push(path);
    }
  }
  return `${[...bySession].map(([session, paths]) => group(session, paths)).join('')}\n`;
}

export function watchesByPathReply(view: MemberView): string {
  const lines = view.dataWatches().map(({ path, sessions }) =>
    group(
      path,
      sessions.map((id) => `0x${formatHex(id)}`),
    ),
  );
  return `${lines.join('')}\n`;
}

function group(title: string, members: readonly string[]): string {
  return `${title}\n${members.map((member) => `\t${member}\n`).join('')}`;
}
