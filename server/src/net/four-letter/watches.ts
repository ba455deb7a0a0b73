/**
 * `wchs`, `wchc` and `wchp`: data watches as totals, by session, and by path.
 *
 * As in ZooKeeper these show only the data watches: those of getData and exists, and both kinds of
 * addWatch.
 */
import type { MemberView } from '../member-view.js';
import { formatHex } from './format.js';

export function watchSummaryReply(view: MemberView): string {
  const { connections, paths, watches } = view.watches;
  return `${connections} connections watching ${paths} paths\nTotal watches:${watches}\n`;
}

export function* watchesBySessionReply(view: MemberView): Generator<string> {
  for (const { session, paths } of view.watchingSessions()) {
    yield `0x${formatHex(session)}\n`;
    for (const path of paths) yield `\t${path}\n`;
  }
  yield '\n';
}

export function* watchesByPathReply(view: MemberView): Generator<string> {
  for (const { path, sessions } of view.watchedPaths()) {
    let title = `${path}\n`;
    for (const session of sessions) {
      yield `${title}\t0x${formatHex(session)}\n`;
      title = '';
    }
    // The session that watched it may have ended.
    if (title !== '') yield '';
  }
  yield '\n';
}
