/**
 * Turns a zoo.cfg into the config file that all members of an ensemble share, and reports what
 * became of each of its keys. Writes nothing: the file that `dynamicConfigFile` names is read by a
 * function of the caller, and files with secrets are returned.
 */
import { missingPeerAuth } from '@rookery/server';
import { peersAreRequired } from './authentication-keys.js';
import { outcomeOf } from './keys.js';
import { isYes, nameOf, type ZooFile } from './outcome.js';
import { readServer, SERVER_KEY, type ZooServer } from './servers.js';
import { tlsDefaults } from './tls-keys.js';

export interface KeyReport {
  readonly key: string;
  readonly outcome: 'taken' | 'no effect' | 'refused' | 'incomplete';
  /** The reason, the setting that it becomes, or what is left to do; never a secret value. */
  readonly text: string;
}

export interface Converted {
  readonly config: Readonly<Record<string, unknown>>;
  readonly report: readonly KeyReport[];
  /** Files with secrets that the config names and that have to be made, by path. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** What the caller has beside the file. */
interface Beside {
  /** Returns the text of the file of that name; throws the file system's error. */
  readDynamic(path: string): string;
  readonly hasJaas: boolean;
  /** The path of a file for a secret; null where such files are not to be made. */
  secretPath(name: string): string | null;
}

const DYNAMIC_FILE = 'dynamicconfigfile';
/** The host and the peer port of a single server; the peer port is never dialled. */
const SINGLE = { id: 1, host: '127.0.0.1', peerPort: 2888 } as const;

const NO_MEMBER =
  'no line is left that makes a member, so the config has none: take the lines of the participants, ' +
  'which observers have in their own zoo.cfg, too';

const NO_PEER_AUTH =
  'peerAuth is "none": members do not authenticate each other, as before; better give them a ' +
  'secretFile';

export function convertZooCfg(text: string, beside: Beside): Converted {
  const properties = new Map(readProperties(text));
  const report: KeyReport[] = [];
  for (const [key, path] of [...properties]) {
    if (key.toLowerCase() !== DYNAMIC_FILE) continue;
    properties.delete(key);
    for (const [name, value] of readProperties(beside.readDynamic(path))) {
      properties.set(name, value);
    }
    report.push({ key, outcome: 'taken', text: 'its lines were read, too' });
  }
  const file = zooFile(properties, beside);
  const into: Into = { settings: tlsDefaults(file), eachServer: {}, secrets: {} };
  const servers: ZooServer[] = [];
  for (const [key, value] of properties) {
    const [, id] = SERVER_KEY.exec(key) ?? [];
    if (id !== undefined) report.push(...takeServer(key, Number(id), value, servers));
    else report.push(takeKey(key, value, { file, into }));
  }
  const isListed = [...properties.keys()].some((key) => SERVER_KEY.test(key));
  if (isListed && servers.length === 0) {
    report.push({ key: 'server.N', outcome: 'refused', text: NO_MEMBER });
  } else if (servers.length === 0) {
    servers.push({ ...SINGLE, clientPort: null });
    const said = 'there is none: a single member, on 127.0.0.1';
    report.push({ key: 'server.N', outcome: 'taken', text: said });
  }
  servers.sort((one, other) => one.id - other.id);
  const entries = servers.map(({ clientPort, ...server }) => ({
    ...server,
    ...into.eachServer,
    ...(clientPort === null ? {} : { clientPort }),
  }));
  const { settings, secrets } = into;
  // ZooKeeper's members do not authenticate each other unless the file says so.
  const asBefore = !('peerAuth' in settings) && missingPeerAuth(entries).length > 0;
  if (asBefore) report.push({ key: 'server.N', outcome: 'taken', text: NO_PEER_AUTH });
  const peerAuth = asBefore ? { peerAuth: 'none' } : peerAuthOf(settings, file);
  return { config: { ...settings, ...peerAuth, servers: entries }, report, secrets };
}

function zooFile(properties: ReadonlyMap<string, string>, beside: Beside): ZooFile {
  const values = new Map([...properties].map(([key, value]) => [nameOf(key), value]));
  const textOf = (name: string) => values.get(name) ?? '';
  const isOn = (name: string) => isYes(textOf(name));
  const { hasJaas } = beside;
  return { textOf, isOn, hasJaas, secretPath: (name) => beside.secretPath(name) };
}

/** Members that prove nothing may be let in only where ZooKeeper let them in. */
function peerAuthOf(settings: Into['settings'], file: ZooFile): Into['settings'] {
  const { peerAuth } = settings;
  if (peerAuth === undefined || peersAreRequired(file)) return {};
  return { peerAuth: { ...(peerAuth as object), required: false } };
}

function takeServer(key: string, id: number, line: string, servers: ZooServer[]): KeyReport[] {
  const { server, problems, notes } = readServer(id, line);
  if (server !== null) servers.push(server);
  if (problems.length > 0) return problems.map((text) => ({ key, outcome: 'refused', text }));
  return [{ key, outcome: 'taken', text: ['an entry of servers', ...notes].join('; ') }];
}

/** What the keys give together. */
interface Into {
  settings: Readonly<Record<string, unknown>>;
  eachServer: Readonly<Record<string, unknown>>;
  secrets: Readonly<Record<string, string>>;
}

function takeKey(
  key: string,
  value: string,
  { file, into }: { readonly file: ZooFile; readonly into: Into },
): KeyReport {
  const outcome = outcomeOf(key, value, file);
  if (outcome === null) {
    return { key, outcome: 'refused', text: 'no release of ZooKeeper is known to have this key' };
  }
  if (outcome.kind === 'noEffect') return { key, outcome: 'no effect', text: outcome.why };
  if (outcome.kind === 'refused') return { key, outcome: 'refused', text: outcome.why };
  const { settings = {}, eachServer = {}, secrets = {} } = outcome;
  into.settings = joinSettings(into.settings, settings);
  into.eachServer = { ...into.eachServer, ...eachServer };
  into.secrets = { ...into.secrets, ...secrets };
  if (outcome.kind === 'incomplete') return { key, outcome: 'incomplete', text: outcome.todo };
  const names = [...settingNames(settings), ...settingNames(eachServer)];
  const note = outcome.note === undefined ? [] : [outcome.note];
  return { key, outcome: 'taken', text: [names.join(', '), ...note].join('; ') };
}

/** Joins the settings of several keys: objects key by key, lists without what occurs twice. */
export function joinSettings(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const joined: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = joined[name];
    if (Array.isArray(before) && Array.isArray(value)) {
      joined[name] = [...new Set<unknown>([...before, ...value])];
    } else if (isObject(before) && isObject(value)) joined[name] = joinSettings(before, value);
    else joined[name] = value;
  }
  return joined;
}

/** The paths of all settings, such as `tls.certFile`. */
function settingNames(settings: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (!isObject(value) || Object.keys(value).length === 0) return [name];
    return settingNames(value).map((inner) => `${name}.${inner}`);
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Reads a file of Java properties as ZooKeeper reads its zoo.cfg.
 *
 * A line is `key=value`, `key:value` or `key value`. `#` and `!` begin a comment. A backslash at
 * the end of a line continues it on the next one; `\uXXXX` and other escapes stand for characters.
 * A key that occurs twice has its last value. Spaces around values are dropped, as ZooKeeper does.
 */
export function readProperties(text: string): ReadonlyMap<string, string> {
  const properties = new Map<string, string>();
  for (const line of logicalLines(text)) {
    const [, key = '', value = ''] = LINE.exec(line) ?? [];
    if (key !== '') properties.set(unescaped(key), unescaped(value).trim());
  }
  return properties;
}

/** A key ends at the first separator that is not escaped. */
const LINE = /^((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)$/s;
const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

function* logicalLines(text: string): Generator<string> {
  let begun = '';
  for (const natural of text.split(/\r\n|\r|\n/)) {
    const line = natural.trimStart();
    if (begun === '' && (line === '' || line.startsWith('#') || line.startsWith('!'))) continue;
    const isContinued = backslashesAtEnd(line) % 2 === 1;
    begun += isContinued ? line.slice(0, -1) : line;
    if (isContinued) continue;
    yield begun;
    begun = '';
  }
  if (begun !== '') yield begun;
}

function backslashesAtEnd(line: string): number {
  let count = 0;
  while (line[line.length - 1 - count] === '\\') count += 1;
  return count;
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code?: string, char = '') =>
    code === undefined ? (ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
