/**
 * The commands of ZooKeeper's shell 3.8.0, as its own help lists them, and their options.
 *
 * Facts from recorded sessions; scripts compare the text, so every space in it counts.
 */

interface ZkOptions {
  /** Options without a value. */
  readonly flags: string;
  /** Options with one. */
  readonly values: string;
}

const USAGES = [
  [
    'addWatch',
    '[-m mode] path # optional mode is one of [PERSISTENT, PERSISTENT_RECURSIVE] - default is PERSISTENT_RECURSIVE',
  ],
  ['addauth', 'scheme auth'],
  ['close', ''],
  ['config', '[-c] [-w] [-s]'],
  ['connect', 'host:port'],
  ['create', '[-s] [-e] [-c] [-t ttl] path [data] [acl]'],
  ['delete', '[-v version] path'],
  ['deleteall', 'path [-b batch size]'],
  ['delquota', '[-n|-b|-N|-B] path'],
  ['get', '[-s] [-w] path'],
  ['getAcl', '[-s] path'],
  ['getAllChildrenNumber', 'path'],
  ['getEphemerals', 'path'],
  ['history', ''],
  ['listquota', 'path'],
  ['ls', '[-s] [-w] [-R] path'],
  ['printwatches', 'on|off'],
  ['quit', ''],
  [
    'reconfig',
    '[-s] [-v version] [[-file path] | [-members serverID=host:port1:port2;port3[,...]*]] | [-add serverId=host:port1:port2;port3[,...]]* [-remove serverId[,...]*]',
  ],
  ['redo', 'cmdno'],
  ['removewatches', 'path [-c|-d|-a] [-l]'],
  ['set', '[-s] [-v version] path data'],
  ['setAcl', '[-s] [-v version] [-R] path acl'],
  ['setquota', '-n|-b|-N|-B val path'],
  ['stat', '[-w] path'],
  ['sync', 'path'],
  ['version', ''],
  ['whoami', ''],
] as const;

export type ZkCommandName = (typeof USAGES)[number][0];

export const ZK_OPTIONS: Readonly<Partial<Record<ZkCommandName, ZkOptions>>> = {
  addWatch: { flags: '', values: 'm' },
  config: { flags: 'cws', values: '' },
  create: { flags: 'sec', values: 't' },
  delete: { flags: '', values: 'v' },
  deleteall: { flags: '', values: 'b' },
  delquota: { flags: 'nbNB', values: '' },
  get: { flags: 'sw', values: '' },
  getAcl: { flags: 's', values: '' },
  ls: { flags: 'swR', values: '' },
  removewatches: { flags: 'cdal', values: '' },
  set: { flags: 's', values: 'v' },
  setAcl: { flags: 'sR', values: 'v' },
  setquota: { flags: '', values: 'nbNB' },
  stat: { flags: 'w', values: '' },
};

/** How many arguments a command needs at least, besides options; none where it is not here. */
export const ZK_ARGUMENTS_MIN: Readonly<Partial<Record<ZkCommandName, number>>> = {
  addWatch: 1,
  addauth: 2,
  create: 1,
  delete: 1,
  deleteall: 1,
  delquota: 1,
  get: 1,
  getAcl: 1,
  getAllChildrenNumber: 1,
  listquota: 1,
  ls: 1,
  removewatches: 1,
  set: 2,
  setAcl: 2,
  stat: 1,
  sync: 1,
  reconfig: 1,
};

export function isZkCommand(name: string): name is ZkCommandName {
  return USAGES.some(([known]) => known === name);
}

export function usageOf(name: ZkCommandName): string {
  const [, args] = USAGES.find(([known]) => known === name) ?? ['', ''];
  return `${name} ${args}`;
}

export function allUsages(): string {
  const lines = USAGES.map(([name]) => `\t${usageOf(name)}`);
  return [
    'ZooKeeper -server host:port -client-configuration properties-file cmd args',
    ...lines,
  ].join('\n');
}
