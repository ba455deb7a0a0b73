/**
 * Mutants of how a member answers its clients: order, watches, syncs, handshakes.
 */
import type { Mutant } from './mutant.js';

export const requestMutants: readonly Mutant[] = [
  {
    name: 'event-after-reply',
    area: 'pipeline',
    breaks: 'events of a change come before its own reply and before later reads (invariant 6)',
    in: 'Applier.#emit',
    find: 'channel.stats.sentEvent(this.#write(channel.writer, type, path));',
    replace: `this.late.push(() =>
        channel.stats.sentEvent(this.#write(channel.writer, type, path)));`,
    also: [
      {
        in: 'Applier.#stats',
        find: '#stats: Stat[] | null = null;',
        replace: `late: (() => void)[] = [];
          #stats: Stat[] | null = null;`,
      },
      {
        in: 'Pipeline.apply',
        find: 'this.#requests.runDueSyncs(zxid);',
        replace: `for (const write of this.#applier.late) write();
          this.#applier.late = [];
          this.#requests.runDueSyncs(zxid);`,
      },
    ],
  },
  {
    name: 'watch-fires-again',
    area: 'state',
    breaks: 'a one-shot watch fires once',
    in: 'WatchedPaths.takeAll',
    find: 'this.#forgetLast(path);',
    replace: '',
    also: [
      {
        in: 'WatchedPaths.takeAll',
        find: `for (const watcher of taken) {
            if (!this.#forgetPath(path, watcher)) {
              taken.delete(watcher);
            }
          }
          return taken;`,
        replace: 'return new Set(taken);',
      },
    ],
  },
  {
    name: 'exists-watch-forgotten',
    area: 'pipeline',
    breaks: 'exists watches a znode that does not exist',
    in: 'readNode',
    find: 'const watches = watch && (node !== NO_NODE || opcode === OpCode.exists);',
    replace: 'const watches = watch && node !== NO_NODE;',
  },
  {
    name: 'watch-lost-with-its-neighbour',
    area: 'state',
    // Closing a connection also removes the watches of others on the same path.
    breaks: 'a watch stays until it fires or its connection ends',
    in: 'WatchedPaths.#forgetWatcher',
    find: `if (watchers.size === 0) {
        this.#forgetLast(path);
      }`,
    replace: `if (watchers.size >= 0) {
        this.#forgetLast(path);
      }`,
  },
  {
    name: 'child-watch-misses-deletions',
    area: 'state',
    breaks: 'a child watch reports every child that is created or deleted',
    in: 'WatchTable.trigger',
    find: 'const parent = parentOf(path);',
    replace: `if (kind === 'deleted') return;
      const parent = parentOf(path);`,
  },
  {
    name: 'set-watches-misses-a-change',
    area: 'pipeline',
    breaks: 'a client that reconnects is notified of what it missed',
    in: 'catchUp',
    find: 'tree.mzxid(node)',
    replace: 'tree.czxid(node)',
  },
  {
    name: 'set-watches-sets-nothing',
    area: 'pipeline',
    breaks: 'a watch whose znode did not change is set again at the new member',
    in: 'catchUp',
    find: "if (!watches.add('data', path, watcher)) return false;",
    replace: "if (!watches.has('data', path, watcher)) continue;",
  },
  {
    name: 'sync-answered-before-it-is-applied',
    area: 'pipeline',
    breaks:
      'the origin answers a sync once it has applied what was committed when the sync was requested',
    in: 'Requests.onSynced',
    find: 'entry.syncedAt = zxid;',
    replace: 'entry.syncedAt = 0;',
    also: [
      {
        in: 'Requests.onSynced',
        find: 'zxid <= this.#state.lastZxid',
        replace: 'zxid > 0',
      },
    ],
  },
  {
    name: 'sync-is-no-barrier',
    area: 'pipeline',
    breaks: 'a sync is a barrier for its session: all requests after it wait, including writes',
    in: 'CommitQueue.#mayMoveBarrierBehind',
    find: 'return false;',
    replace: 'return true;',
  },
  {
    name: 'ping-overtakes',
    area: 'pipeline',
    breaks: "a session's answers come in the order of its requests",
    in: 'Requests.#onRead',
    find: 'const isIdle = queue.length === 0;',
    replace: 'const isIdle = queue.length === 0 || header.opcode === OpCode.ping;',
  },
  {
    name: 'writes-decided-in-threes-reversed',
    area: 'pipeline',
    breaks: "a session's writes are applied in the order in which they were sent",
    in: 'LeaderService.#onRequests',
    find: 'const item = items[next];',
    replace: 'const item = items[items.length === 3 ? 2 - next : next];',
    // The run without faults has messages of one, two and many requests, and none of three.
  },
  {
    name: 'write-forwarded-twice',
    area: 'pipeline',
    breaks: 'a write is executed once',
    in: 'Outbox.#forward',
    find: 'entry.body = NO_BYTES;',
    replace: `if (entry.request % 8 === 0) this.#writer.add(entry);
      entry.body = NO_BYTES;`,
  },
  {
    name: 'clients-survive-the-role',
    area: 'pipeline',
    breaks: 'a role change closes all client connections',
    in: 'Pipeline.stopServing',
    find: "if (connection.phase === 'open') continue;",
    replace: `const { phase, queue } = connection;
      if (phase === 'open' || (phase === 'live' && queue.length === 0)) continue;`,
  },
  {
    name: 'served-behind-what-it-has-seen',
    area: 'pipeline',
    breaks: 'the zxid that a client has seen never decreases, whichever member it moves to',
    in: 'Handshake.onConnect',
    find: 'if (request.lastZxidSeen > at.state.lastZxid) $BODY',
    replace: 'if (request.lastZxidSeen > Number.MAX_SAFE_INTEGER - at.state.lastZxid) $BODY',
  },
  {
    name: 'welcomed-before-its-session-is-here',
    area: 'pipeline',
    breaks: 'a resumed session is served once its own creation is applied here',
    aim: [
      'members=3',
      'kinds=["delay","slow-disk"]',
      'clients.moveEveryMs=200',
      'clients.closeEveryMs=700',
    ],
    in: 'Pipeline.onAttached',
    find: 'connection.session > this.#state.lastZxid',
    replace: 'connection.session < 0',
  },
];
