/**
 * The kinds of work of simulated clients: each adds one to four operations that belong together.
 *
 * Paths: `/r/<n>` registers that all clients write, `/own/<client>-<n>` written by one client
 * alone, `/own/t<client>-<n>` with a time to live, `/e/<client>-<n>` ephemerals, `/q/` sequential
 * nodes, `/m/<n>` what multis create and delete, `/m/f<n>` parents that are created and deleted
 * with their children, `/s/<n>` and `/s/<n>/<n>` what not everybody may read or change. No watch
 * is set below `/s`: whether its events are withheld is no matter of these clients. `/l/<n>` are
 * what a quota of `/l` limits, where it has one. The directories are never deleted, so sequence
 * numbers below them never begin again.
 */
import { Perms } from '@rookery/protocol';
import { ANYONE, type Grant, SELF, USERS } from '../contract/grants.js';
import type { MultiPart, Operation, ReadPart, RemovedWatches } from '../contract/history.js';
import type { Random } from '../random.js';
import type { ClientOptions, Work } from './options.js';

/** The connection proves to be this user, in addition to those that it is known as. */
export interface Proof {
  readonly kind: 'prove';
  readonly user: string;
}

/** What quotas limit, and where its quota is. */
export const LIMITED = ['/l', '/zookeeper/quota/l'] as const;

/** What a work needs from its client. */
export interface Scene {
  readonly client: number;
  readonly random: Random;
  readonly options: ClientOptions;
  readonly registers: readonly string[];
  readonly versions: ReadonlyMap<string, number>;
  readonly ownNames: string[];
  /** Returns a text that no other client writes. */
  text(): string;
  push(due: Operation | Proof): void;
}

/** Created by every client that opens a session, and deleted by none. */
export const CANNOT_FAIL = ['/r', '/own', '/e', '/q', '/m'] as const;

export const WORK_OF: Readonly<Record<Work, (scene: Scene) => void>> = {
  registers,
  own,
  ephemerals,
  sequentials,
  multis,
  watches,
  syncs,
  families,
  acls,
  readsAtOnce,
  ownEphemerals,
  removals,
  secrets,
  limits,
};

/** The nodes of one client in a directory. */
const OWN_NODES = 4;
/** The number of sequential nodes that a client keeps. */
const NAMES_KEPT = 3;
/** Numbers are raised up to it: so many, that most are raised by more than one. */
const RAISED_MAX = 1_000_000;
const FAMILIES = 2;
/** No more than members allow in any run. */
const READS_AT_ONCE_MAX = 6;
const SECRETS = 3;
/** More than what a member looks through without an index. */
const GRANTS_MAX = 6;
const LIMITED_NODES = 10;
/** Fewer, with `/l` itself; and the bytes of about as many texts, which are of about 6. */
const LIMITED_TO = [3, 5, 8] as const;
const BYTES_OF_TEXT = 6;
const REMOVABLE: readonly RemovedWatches[] = [
  ...(['data', 'children', 'persistent', 'recursive', 'any', 'any'] as const),
];
const ANY_VERSION = -1;

/** The requests of a client that never writes and never waits for a quorum. */
export function readAnything(scene: Scene): void {
  const { random, options } = scene;
  const dice = random.next();
  if (dice < 0.6) return read(scene, random.pick(scene.registers));
  const client = 1 + random.below(options.count);
  const directory = random.pick(['/own', '/e']);
  if (dice < 0.9) return read(scene, `${directory}/${client}-${random.below(OWN_NODES)}`);
  list(scene, random.pick(CANNOT_FAIL));
}

function registers(scene: Scene): void {
  const { random, options } = scene;
  const path = random.pick(scene.registers);
  if (random.chance(options.readShare)) return read(scene, path);
  const dice = random.next();
  const data = scene.text();
  if (dice < 0.1) scene.push({ kind: 'create', path, data, mode: 'persistent' });
  else if (dice < 0.15) scene.push({ kind: 'delete', path, version: versionOf(scene, path) });
  else scene.push({ kind: 'set', path, data, version: versionOf(scene, path) });
}

/** Znodes that are removed by themselves, unless they are written to again in time. */
export function timed(scene: Scene): void {
  const { random } = scene;
  const path = `/own/t${scene.client}-${random.below(2)}`;
  const dice = random.next();
  const data = scene.text();
  if (dice < 0.5) scene.push({ kind: 'create', path, data, mode: 'ttl' });
  else if (dice < 0.6) scene.push({ kind: 'set', path, data, version: ANY_VERSION });
  else scene.push({ kind: 'exists', path, watch: wantsWatch(scene) });
}

function own(scene: Scene): void {
  const { random, options } = scene;
  const path = `/own/${scene.client}-${random.below(OWN_NODES)}`;
  if (random.chance(options.readShare)) return read(scene, path);
  const dice = random.next();
  const data = scene.text();
  if (dice < 0.4) scene.push({ kind: 'create', path, data, mode: 'persistent' });
  else if (dice < 0.8) scene.push({ kind: 'set', path, data, version: ANY_VERSION });
  else scene.push({ kind: 'delete', path, version: ANY_VERSION });
  // The read follows its own write, so it must show it.
  if (random.chance(0.3)) scene.push({ kind: 'get', path, watch: false });
}

function ephemerals(scene: Scene): void {
  const { random, options } = scene;
  if (random.chance(options.readShare)) {
    if (random.chance(0.1)) return list(scene, '/e');
    const client = 1 + random.below(options.count);
    return read(scene, `/e/${client}-${random.below(OWN_NODES)}`);
  }
  const path = `/e/${scene.client}-${random.below(OWN_NODES)}`;
  if (random.chance(0.6)) {
    scene.push({ kind: 'create', path, data: scene.text(), mode: 'ephemeral' });
  } else scene.push({ kind: 'delete', path, version: ANY_VERSION });
}

function sequentials(scene: Scene): void {
  const { random, ownNames, options } = scene;
  if (random.chance(options.readShare * 0.3)) return list(scene, '/q');
  if (random.chance(0.05)) {
    return scene.push({ kind: 'raise', path: '/q', atLeast: random.below(RAISED_MAX) });
  }
  const oldest = ownNames[0];
  if (ownNames.length > NAMES_KEPT && oldest !== undefined) {
    ownNames.shift();
    if (random.chance(options.readShare)) read(scene, oldest);
    return scene.push({ kind: 'delete', path: oldest, version: ANY_VERSION });
  }
  const mode = random.chance(0.5) ? 'persistentSequential' : 'ephemeralSequential';
  const path = random.chance(0.5) ? '/q/a-' : '/q/b-';
  scene.push({ kind: 'create', path, data: scene.text(), mode });
}

function multis(scene: Scene): void {
  const { random } = scene;
  const register = random.pick(scene.registers);
  const path = `/m/${random.below(OWN_NODES)}`;
  const version = versionOf(scene, register);
  const check: MultiPart = { kind: 'check', path: register, version };
  const set: MultiPart = { kind: 'set', path: register, data: scene.text(), version };
  const create: MultiPart = { kind: 'create', path, data: scene.text(), mode: 'persistent' };
  const remove: MultiPart = { kind: 'delete', path, version: ANY_VERSION };
  const line: MultiPart = {
    kind: 'create',
    path: '/q/m-',
    data: scene.text(),
    mode: 'ephemeralSequential',
  };
  // A version that no register has.
  const impossible: MultiPart = { kind: 'check', path: register, version: 2_000_000_000 };
  const again: MultiPart = { ...set, data: scene.text(), version: ANY_VERSION };
  const dice = random.below(6);
  if (dice === 0) scene.push({ kind: 'multi', parts: [check, set, create] });
  else if (dice === 1) scene.push({ kind: 'multi', parts: [set, line, line] });
  else if (dice === 2) scene.push({ kind: 'multi', parts: [create, line, set, impossible] });
  else if (dice === 3) scene.push({ kind: 'multi', parts: [remove, set] });
  else {
    // Two changes of one znode, which are undone together where the multi fails.
    const twice = dice === 4 ? [create, remove] : [{ ...set, version: ANY_VERSION }, again];
    scene.push({ kind: 'multi', parts: random.chance(0.3) ? [...twice, impossible] : twice });
  }
  if (random.chance(0.3)) read(scene, path);
}

function watches(scene: Scene): void {
  const { random } = scene;
  const register = random.pick(scene.registers);
  const dice = random.next();
  if (dice < 0.4) scene.push({ kind: 'get', path: register, watch: true });
  else if (dice < 0.6) scene.push({ kind: 'exists', path: register, watch: true });
  else if (dice < 0.75) {
    const path = random.pick(CANNOT_FAIL);
    scene.push({ kind: 'exists', path, watch: true });
  } else if (dice < 0.9) list(scene, random.pick(['/e', '/m', '/r', '/own']), true);
  else if (dice < 0.95) scene.push({ kind: 'addWatch', path: register, mode: 'persistent' });
  else {
    const path = random.pick(['/r', '/e', '/m', register, familyOf(scene)]);
    scene.push({ kind: 'addWatch', path, mode: random.pick(['persistent', 'recursive']) });
  }
}

function syncs(scene: Scene): void {
  const path = scene.random.pick(scene.registers);
  scene.push({ kind: 'sync', path });
  scene.push({ kind: 'get', path, watch: false });
}

/** ACLs that permit everything and change all the time. */
function acls(scene: Scene): void {
  const { random } = scene;
  const own = `/own/${scene.client}-${random.below(OWN_NODES)}`;
  const path = random.pick([random.pick(scene.registers), own, '/r']);
  const version = random.chance(0.7) ? ANY_VERSION : random.below(3);
  scene.push({ kind: 'setAcl', path, acl: scene.text(), version });
  if (random.chance(0.5)) scene.push({ kind: 'exists', path, watch: false });
}

/** Reads whose answers must all be of one zxid, of znodes that others write together. */
function readsAtOnce(scene: Scene): void {
  const { random, options } = scene;
  const reads = Array.from({ length: 1 + random.below(READS_AT_ONCE_MAX) }, (): ReadPart => {
    const dice = random.next();
    if (dice < 0.5) return { kind: 'get', path: random.pick(scene.registers) };
    if (dice < 0.7) return { kind: 'get', path: `/m/${random.below(OWN_NODES)}` };
    if (dice < 0.8) return { kind: 'children', path: random.pick(CANNOT_FAIL) };
    if (dice < 0.9) return { kind: 'children', path: `/m/f${random.below(FAMILIES)}` };
    const client = 1 + random.below(options.count);
    return { kind: 'get', path: `/e/${client}-${random.below(OWN_NODES)}` };
  });
  scene.push({ kind: 'multiRead', reads });
}

/** What this session has created and not deleted, between creations and deletions. */
function ownEphemerals(scene: Scene): void {
  const { random, client } = scene;
  const path = `/e/${client}-${random.below(OWN_NODES)}`;
  const dice = random.next();
  if (dice < 0.3) scene.push({ kind: 'create', path, data: scene.text(), mode: 'ephemeral' });
  else if (dice < 0.4) scene.push({ kind: 'delete', path, version: ANY_VERSION });
  if (dice < 0.7) scene.push({ kind: 'ephemerals', path: random.pick(['/', '/e', '/q', path]) });
  else scene.push({ kind: 'ephemerals', path: '/' });
}

/** Watches that are set and removed again, while others write what they watch. */
function removals(scene: Scene): void {
  const { random } = scene;
  const path = random.pick([random.pick(scene.registers), '/r', '/e', '/m']);
  const dice = random.next();
  if (dice < 0.2) scene.push({ kind: 'exists', path, watch: true });
  else if (dice < 0.35) list(scene, path, true);
  else if (dice < 0.5) scene.push({ kind: 'addWatch', path, mode: 'persistent' });
  else if (dice < 0.6) scene.push({ kind: 'addWatch', path, mode: 'recursive' });
  const type = random.pick(REMOVABLE);
  if (random.chance(0.6)) scene.push({ kind: 'removeWatches', path, type });
}

/** Znodes that some users may read, change, fill, empty or open to others. */
function secrets(scene: Scene): void {
  const { random } = scene;
  const parent = `/s/${random.below(SECRETS)}`;
  const child = `${parent}/${random.below(SECRETS)}`;
  const path = random.chance(0.5) ? parent : child;
  const data = scene.text();
  const version = versionOf(scene, path);
  const made = { kind: 'create', path, data, mode: 'persistent', grants: grants(random) } as const;
  const dice = random.next();
  if (dice < 0.12) scene.push({ kind: 'prove', user: random.pick(USERS) });
  else if (dice < 0.35) scene.push(made);
  else if (dice < 0.45) scene.push({ kind: 'set', path, data, version });
  else if (dice < 0.57) scene.push({ kind: 'delete', path, version: ANY_VERSION });
  else if (dice < 0.72) {
    const acl = scene.text();
    scene.push({ kind: 'setAcl', path, acl, grants: grants(random), version: ANY_VERSION });
  } else if (dice < 0.82) {
    // The second part is decided by what the first one has made.
    const bears = { ...made, path: child, data: scene.text(), grants: grants(random) };
    const check: MultiPart = { kind: 'check', path: child, version: ANY_VERSION };
    scene.push({ kind: 'multi', parts: [{ ...made, path: parent }, bears, check] });
  } else if (dice < 0.9) {
    const list: ReadPart = { kind: 'children', path: parent };
    scene.push({ kind: 'multiRead', reads: [{ kind: 'get', path }, list] });
  } else list(scene, parent, false);
  scene.push({ kind: random.chance(0.8) ? 'get' : 'exists', path, watch: false });
}

function grants(random: Random): readonly Grant[] {
  if (random.chance(0.2)) return [{ perms: Perms.all, to: SELF }];
  return Array.from({ length: 1 + random.below(GRANTS_MAX) }, () => {
    const to = random.pick([ANYONE, SELF, ...USERS]);
    return { perms: 1 + random.below(Perms.all), to };
  });
}

/** Znodes of which there are as many, or as large ones, as the quota of their parent allows. */
function limits(scene: Scene): void {
  const { random } = scene;
  const path = `/l/${random.below(LIMITED_NODES)}`;
  const [, quota] = LIMITED;
  const [rules, sum] = [`${quota}/zookeeper_limits`, `${quota}/zookeeper_stats`];
  const data = scene.text() + '-'.repeat(random.below(BYTES_OF_TEXT));
  const dice = random.next();
  if (dice < 0.5) {
    scene.push({ kind: 'create', path, data, mode: 'persistent' });
  } else if (dice < 0.65) {
    scene.push({ kind: 'set', path, data, version: ANY_VERSION });
  } else if (dice < 0.8) scene.push({ kind: 'delete', path, version: ANY_VERSION });
  else if (dice < 0.86) {
    scene.push({ kind: 'set', path: rules, data: limitsText(scene), version: ANY_VERSION });
  } else if (dice < 0.94) {
    // Creating the second one measures what is there.
    const limit = { kind: 'create', path: rules, data: limitsText(scene) } as const;
    const stats = { kind: 'create', path: sum, data: scene.text() } as const;
    const mode = 'persistent' as const;
    const parts = [
      { ...limit, mode },
      { ...stats, mode },
    ];
    scene.push({ kind: 'multi', parts });
  } else if (dice < 0.96) {
    const parts = [sum, rules].map((gone) => {
      return { kind: 'delete' as const, path: gone, version: ANY_VERSION };
    });
    scene.push({ kind: 'multi', parts });
  } else list(scene, '/l', false);
}

/** As ZooKeeper has it; nobody knows what the last entry means, but whose text it is. */
function limitsText(scene: Scene): string {
  const { random } = scene;
  const count = random.chance(0.8) ? random.pick(LIMITED_TO) : -1;
  const bytes = random.chance(0.4) ? BYTES_OF_TEXT * random.pick(LIMITED_TO) : -1;
  const hard = `byteHardLimit=${bytes};countHardLimit=${count}`;
  return `count=-1,bytes=-1=;${hard};by=${scene.text()}`;
}

/** Parents that all clients delete while others create children below them. */
function families(scene: Scene): void {
  const { random } = scene;
  const parent = familyOf(scene);
  const child = `${parent}/${random.below(OWN_NODES)}`;
  const mode = random.chance(0.3) ? 'ephemeral' : 'persistent';
  const bears = { kind: 'create', path: child, data: scene.text(), mode } as const;
  const begins = { kind: 'create', path: parent, data: scene.text(), mode: 'persistent' } as const;
  const contains = { ...begins, mode: 'container' } as const;
  const removes = { kind: 'delete', path: child, version: ANY_VERSION } as const;
  const ends = { kind: 'delete', path: parent, version: ANY_VERSION } as const;
  const dice = random.next();
  if (dice < 0.25) scene.push(random.chance(0.3) ? contains : begins);
  else if (dice < 0.5) scene.push(bears);
  else if (dice < 0.65) scene.push(removes);
  else if (dice < 0.8) scene.push(ends);
  else if (dice < 0.85) scene.push({ kind: 'multi', parts: [begins, bears] });
  else if (dice < 0.9) scene.push({ kind: 'multi', parts: [removes, ends] });
  else list(scene, parent);
}

/** A parent that is there at times. */
function familyOf({ random }: Scene): string {
  return `/m/f${random.below(FAMILIES)}`;
}

function read(scene: Scene, path: string): void {
  const kind = scene.random.chance(0.7) ? 'get' : 'exists';
  scene.push({ kind, path, watch: wantsWatch(scene) });
}

function list(scene: Scene, path: string, watch = wantsWatch(scene)): void {
  scene.push({ kind: 'children', path, watch });
}

function wantsWatch({ options, random }: Scene): boolean {
  return options.works.includes('watches') && random.chance(0.2);
}

/** Mostly the version that was seen last: a compare-and-set that other clients make fail. */
function versionOf({ versions, random }: Scene, path: string): number {
  return random.chance(0.8) ? (versions.get(path) ?? ANY_VERSION) : ANY_VERSION;
}
