/** Named bugs of watches: after a reconnect, and of several modes on one path. */
import { type NamedMutant, scenario } from './named-mutant.js';

const WATCHES = 'watches';

export const watchMutants: readonly NamedMutant[] = [
  {
    name: 'zk-1412-children-by-the-wrong-zxid',
    area: 'named',
    in: 'catchUp',
    find: 'tree.pzxid(node)',
    replace: 'tree.mzxid(node)',
    breaks: 'after a reconnect a client is notified of what it missed, and of nothing else',
    scenario: scenario(
      WATCHES,
      'ZK-1412: a client that reconnects is notified once of each change that it missed, and of none that it saw',
    ),
  },
  {
    name: 'zk-4466-one-mode-a-path',
    area: 'named',
    in: 'WatchTable.add',
    find: 'table.add(path, watcher);',
    replace: `for (const other of this.#all()) if (other !== table) other.remove(path, watcher);
      table.add(path, watcher);`,
    breaks: 'watches of several modes coexist on a path',
    scenario: scenario(
      WATCHES,
      'ZK-4466: a one-shot watch and a persistent one on the same path do not affect each other',
    ),
  },
  {
    name: 'zk-4471-children-takes-persistent',
    area: 'named',
    in: 'MODES_BY_TYPE',
    find: "['child']",
    replace: "['child', 'persistent']",
    breaks: 'type `children` means one-shot watches only',
    scenario: scenario(
      WATCHES,
      'ZK-4471: removing the child watches of a path does not affect its persistent watch',
    ),
  },
  {
    name: 'zk-4472-persistent-takes-all',
    area: 'named',
    in: 'MODES_BY_TYPE',
    find: "['persistent']",
    replace: "['persistent', 'data', 'child']",
    breaks: 'a persistent watch can be removed alone',
    scenario: scenario(
      WATCHES,
      'ZK-4472: a persistent watch can be removed alone, and the one-shot watches stay',
    ),
  },
  {
    name: 'zk-4475-recursive-hears-children',
    area: 'named',
    in: 'WatchTable.trigger',
    find: 'const all = this.#withPersistent(above, parent);',
    replace: "const all = this.#withStanding(above, { kind: 'dataChanged', path: parent });",
    breaks: 'a recursive watch never receives childrenChanged',
    scenario: scenario(
      WATCHES,
      'ZK-4475: a recursive watch never receives childrenChanged, whoever else watches the parent',
    ),
  },
  {
    name: 'zk-4655-events-without-a-zxid',
    area: 'named',
    in: 'Applier.#write',
    find: 'writeEvent(frame, { zxid: this.#zxid, type, path });',
    replace: 'writeEvent(frame, { zxid: Math.min(-1, this.#zxid), type, path });',
    breaks: 'an event carries the zxid of its change',
    scenario: scenario(WATCHES, 'ZK-4655: an event carries the zxid of the change that it reports'),
  },
];
