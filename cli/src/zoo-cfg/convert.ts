/**
 * Turns a zoo.cfg into the config file that all members of an ensemble share, and reports what
 * became of each of its keys. Pure except for the file that `dynamicConfigFile` names, whose reader
 * is passed in.
 */
import { missingPeerAuth } from '@rookery/server';
import { outcomeOf } from './keys.js';
import { readProperties } from './properties.js';
import { readServer, SERVER_KEY, type ZooServer } from './servers.js';

export interface KeyReport {
  readonly key: string;
  readonly outcome: 'taken' | 'no effect' | 'refused';
  /** The reason, or the setting that it becomes; never a value, which may be a secret. */
  readonly text: string;
}

export interface Converted {
  readonly config: Readonly<Record<string, unknown>>;
  readonly report: readonly KeyReport[];
}

const DYNAMIC_FILE = 'dynamicconfigfile';
/** The host and the peer port of a server that is alone; nobody dials the peer port. */
const ALONE = { id: 1, host: '127.0.0.1', peerPort: 2888 } as const;

const NO_PEER_AUTH =
  'peerAuth is "none": members do not authenticate each other, as before; better give them a ' +
  'secretFile';

/** `readDynamic` returns the text of the file of that name; it throws the file system's error. */
export function convertZooCfg(text: string, readDynamic: (path: string) => string): Converted {
  const properties = new Map(readProperties(text));
  const report: KeyReport[] = [];
  for (const [key, path] of [...properties]) {
    if (key.toLowerCase() !== DYNAMIC_FILE) continue;
    properties.delete(key);
    for (const [name, value] of readProperties(readDynamic(path))) properties.set(name, value);
    report.push({ key, outcome: 'taken', text: 'its lines were read, too' });
  }
  const settings: Record<string, unknown> = {};
  const eachServer: Record<string, unknown> = {};
  const servers: ZooServer[] = [];
  for (const [key, value] of properties) {
    const [, id] = SERVER_KEY.exec(key) ?? [];
    if (id !== undefined) report.push(...takeServer(key, Number(id), value, servers));
    else report.push(takeKey(key, value, { settings, eachServer }));
  }
  if (servers.length === 0) {
    servers.push({ ...ALONE, clientPort: null });
    const said = 'there is none: the member is alone, on 127.0.0.1';
    report.push({ key: 'server.N', outcome: 'taken', text: said });
  }
  servers.sort((one, other) => one.id - other.id);
  const entries = servers.map(({ clientPort, ...server }) => ({
    ...server,
    ...eachServer,
    ...(clientPort === null ? {} : { clientPort }),
  }));
  // ZooKeeper's members do not authenticate each other unless quorum.auth says so.
  const asBefore = missingPeerAuth(entries).length > 0;
  if (asBefore) report.push({ key: 'server.N', outcome: 'taken', text: NO_PEER_AUTH });
  const peerAuth = asBefore ? { peerAuth: 'none' } : {};
  return { config: { ...settings, ...peerAuth, servers: entries }, report };
}

function takeServer(key: string, id: number, line: string, servers: ZooServer[]): KeyReport[] {
  const { server, problems, notes } = readServer(id, line);
  if (server !== null) servers.push(server);
  if (problems.length > 0) return problems.map((text) => ({ key, outcome: 'refused', text }));
  return [{ key, outcome: 'taken', text: ['an entry of servers', ...notes].join('; ') }];
}

function takeKey(
  key: string,
  value: string,
  to: { readonly settings: object; readonly eachServer: object },
): KeyReport {
  const outcome = outcomeOf(key, value);
  if (outcome === null) {
    return { key, outcome: 'refused', text: 'no release of ZooKeeper is known to have this key' };
  }
  if (outcome.kind === 'noEffect') return { key, outcome: 'no effect', text: outcome.why };
  if (outcome.kind === 'refused') return { key, outcome: 'refused', text: outcome.why };
  Object.assign(to.settings, outcome.settings);
  Object.assign(to.eachServer, outcome.eachServer);
  const names = [...Object.keys(outcome.settings ?? {}), ...Object.keys(outcome.eachServer ?? {})];
  const note = outcome.note === undefined ? [] : [outcome.note];
  return { key, outcome: 'taken', text: [names.join(', '), ...note].join('; ') };
}
