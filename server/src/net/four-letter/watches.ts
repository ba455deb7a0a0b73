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
  for (const one of view.watchingSessions()) {
    yield one === null ? '' : `0x${formatHex(one.session)}\n`;
    for (const path of one?.paths ?? []) yield path === null ? '' : `\t${path}\n`;
  }
  yield '\n';
}

export function* watchesByPathReply(view: MemberView): Generator<string> {
  for (const one of view.watchedPaths()) {
    let title = one === null ? '' : `${one.path}\n`;
    for (const session of one?.sessions ?? []) {
      if (session === null) {
        yield '';
        continue;
      }
      yield `${title}\t0x${formatHex(session)}\n`;
      title = '';
    }
    // A path has no line if nobody watches it any more, because watches of ended sessions stay in
    // the table for a while (state/watched-paths.ts), or if it was listed before. The time that it
    // took counts all the same.
    if (title !== '' || one === null) yield '';
  }
  yield '\n';
}
