/**
 * Mutants of how a member answers its clients: order, watches, syncs, handshakes.
 */
import type { Mutant } from './mutant.js';

export const requestMutants: readonly Mutant[] = [
  {
    name: 'event-after-reply',
    area: 'pipeline',
    breaks: 'events of a change come before its own reply and before later reads (invariant 6)',
    file: 'pipeline/apply.ts',
    find: '    channel.stats.sentEvent(writeEvent(channel.writer, { zxid: this.#zxid, type, path }));\n',
    replace: `    const event = { zxid: this.#zxid, type, path };
    this.late.push(() => channel.stats.sentEvent(writeEvent(channel.writer, event)));
`,
    also: [
      {
        file: 'pipeline/apply.ts',
        find: '  #zxid: Zxid = 0;\n',
        replace: '  #zxid: Zxid = 0;\n  late: (() => void)[] = [];\n',
      },
      {
        file: 'pipeline/pipeline.ts',
        find: '    this.#requests.runDueSyncs(zxid);\n',
        replace: `    for (const write of this.#applier.late) write();
    this.#applier.late = [];
    this.#requests.runDueSyncs(zxid);
`,
      },
    ],
  },
  {
    name: 'watch-fires-again',
    area: 'state',
    breaks: 'a one-shot watch fires once',
    file: 'state/watched-paths.ts',
    find: `    this.#forgetLast(path);
    const taken =`,
    replace: `    const taken =`,
    also: [
      {
        file: 'state/watched-paths.ts',
        find: `    for (const watcher of taken) {
      // The watch of a watcher that is gone counts until it is released.
      if (!this.#forgetPath(path, watcher)) {
        taken.delete(watcher);
      }
    }
    return taken;`,
        replace: '    return new Set(taken);',
      },
    ],
  },
  {
    name: 'exists-watch-forgotten',
    area: 'pipeline',
    breaks: 'exists watches a znode that does not exist',
    file: 'pipeline/read.ts',
    find: 'const watches = watch && (node !== NO_NODE || opcode === OpCode.exists);',
    replace: 'const watches = watch && node !== NO_NODE;',
  },
  {
    name: 'watch-lost-with-its-neighbour',
    area: 'state',
    // Closing a connection also removes the watches of others on the same path.
    breaks: 'a watch stays until it fires or its connection ends',
    file: 'state/watched-paths.ts',
    find: `      watchers.delete(watcher);
      if (watchers.size === 0) {`,
    replace: `      watchers.delete(watcher);
      if (watchers.size >= 0) {`,
  },
  {
    name: 'child-watch-misses-deletions',
    area: 'state',
    breaks: 'a child watch reports every child that is created or deleted',
    file: 'state/watches.ts',
    find: '    const parent = parentOf(path);\n    const above',
    replace:
      "    if (kind === 'deleted') return;\n    const parent = parentOf(path);\n    const above",
  },
  {
    name: 'set-watches-misses-a-change',
    area: 'pipeline',
    breaks: 'a client that reconnects is notified of what it missed',
    file: 'pipeline/set-watches.ts',
    find: 'else if (tree.mzxid(node) > seen &&',
    replace: 'else if (tree.czxid(node) > seen &&',
  },
  {
    name: 'set-watches-sets-nothing',
    area: 'pipeline',
    breaks: 'a watch whose znode did not change is set again at the new member',
    file: 'pipeline/set-watches.ts',
    find: `} else if (!watches.add('data', path, watcher)) return false;
  }
  for (const path of request.existWatches) {`,
    replace: `} else if (!watches.has('data', path, watcher)) continue;
  }
  for (const path of request.existWatches) {`,
  },
  {
    name: 'sync-answered-before-it-is-applied',
    area: 'pipeline',
    breaks:
      'the origin answers a sync once it has applied what was committed when the sync was requested',
    file: 'pipeline/requests.ts',
    find: '    entry.syncedAt = zxid;\n',
    replace: '    entry.syncedAt = 0;\n',
    also: [
      {
        file: 'pipeline/requests.ts',
        find: 'if (zxid <= this.#state.lastZxid) this.#drain(connection);',
        replace: 'if (zxid > 0) this.#drain(connection);',
      },
    ],
  },
  {
    name: 'sync-is-no-barrier',
    area: 'pipeline',
    breaks: 'a sync is a barrier for its session: all requests after it wait, including writes',
    file: 'pipeline/commit-queue.ts',
    find: "    if (kind === 'sync') return false;\n",
    replace: "    if (kind === 'sync') return true;\n",
  },
  {
    name: 'ping-overtakes',
    area: 'pipeline',
    breaks: "a session's answers come in the order of its requests",
    file: 'pipeline/requests.ts',
    find: '    const isIdle = queue.length === 0;\n',
    replace: '    const isIdle = queue.length === 0 || header.opcode === OpCode.ping;\n',
  },
  {
    name: 'writes-decided-in-threes-reversed',
    area: 'pipeline',
    breaks: "a session's writes are applied in the order in which they were sent",
    file: 'driver/leader-service.ts',
    // The run without faults has messages of one, two and many requests, and none of three.
    find: 'const item = items[next];',
    replace: 'const item = items[items.length === 3 ? 2 - next : next];',
  },
  {
    name: 'write-forwarded-twice',
    area: 'pipeline',
    breaks: 'a write is executed once',
    file: 'pipeline/outbox.ts',
    find: '    this.#writer.add(entry);\n',
    replace: `    this.#writer.add(entry);
    if (entry.request % 8 === 0) this.#writer.add(entry);
`,
  },
  {
    name: 'clients-survive-the-role',
    area: 'pipeline',
    breaks: 'a role change closes all client connections',
    file: 'pipeline/pipeline.ts',
    find: `      if (connection.phase === 'open') continue;
      ended`,
    replace: `      const { phase, queue } = connection;
      if (phase === 'open' || (phase === 'live' && queue.length === 0)) continue;
      ended`,
  },
  {
    name: 'served-behind-what-it-has-seen',
    area: 'pipeline',
    breaks: 'the zxid that a client has seen never decreases, whichever member it moves to',
    file: 'pipeline/handshake.ts',
    find: 'if (request.lastZxidSeen > at.state.lastZxid) {',
    replace: 'if (request.lastZxidSeen > Number.MAX_SAFE_INTEGER - at.state.lastZxid) {',
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
    file: 'pipeline/pipeline.ts',
    find: 'else if (connection.session > this.#state.lastZxid) this.#handshake',
    replace: 'else if (connection.session < 0) this.#handshake',
  },
];
