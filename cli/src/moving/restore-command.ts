/**
 * `rookery restore FILE`, `rookery import zookeeper` and `rookery recover` turn a state into that
 * of a new ensemble.
 *
 * Each checks the whole source and the directories before it writes, and writes only into empty
 * directories. With `--plan` nothing is written. The report goes to standard output. Exit code 0:
 * written, or possible according to the plan; 1: the source is damaged; 2: a mistake of the caller.
 */
import { randomUUID } from 'node:crypto';
import {
  type Config,
  checkChecksum,
  loadEnsembleConfig,
  newestSurvivor,
  OperatorError,
  type ReadDirectory,
  type RestorePlan,
  RestorePlanner,
  readSnapshotFile,
  readZooKeeperDirectory,
  recoveryPlan,
  requireRestorable,
  restoreMembers,
  SnapshotFileError,
  type StoppedMember,
  ZooKeeperDataError,
} from '@rookery/server';
import { requireServer } from '../command/require-server.js';
import { countText } from '../command/values.js';
import { visible } from '../terminal/visible-text.js';
import { readMember } from './stopped-member.js';

export interface RestoreTarget {
  readonly config: string;
  /**
   * The member to restore; null for all members of the file, whose directories are then on this
   * machine.
   */
  readonly id: number | null;
  /** The id of the new ensemble; null for a random one. */
  readonly ensembleId: string | null;
  readonly plan: boolean;
  readonly json: boolean;
}

interface ZooKeeperSource {
  readonly dataDir: string;
  readonly logDir: string | null;
  readonly stopAtDamage: boolean;
}

/** The surviving members after a majority is lost; none of them runs. */
interface Survivors {
  readonly config: string;
  readonly ids: readonly number[];
}

/** The facts in the order in which they are printed. */
type Facts = Readonly<Record<string, string | number | readonly string[]>>;

interface Source {
  readonly plan: RestorePlan;
  readonly sessions: number;
  readonly facts: Facts;
}

/** Resolves with the exit code. */
export async function runRestore(file: string, target: RestoreTarget): Promise<number> {
  return await restored(target, file, () => snapshotSource(file));
}

/** Resolves with the exit code. */
export async function runImport(from: ZooKeeperSource, target: RestoreTarget): Promise<number> {
  return await restored(target, from.dataDir, () => zooKeeperSource(from));
}

/**
 * Makes the survivor with the newest log the state of a new ensemble. Resolves with the exit code.
 */
export async function runRecover(from: Survivors, target: RestoreTarget): Promise<number> {
  return await restored(target, 'the source', () => survivorSource(from));
}

async function restored(
  target: RestoreTarget,
  name: string,
  read: () => Promise<Source>,
): Promise<number> {
  const config = loadEnsembleConfig(target.config);
  const ids = idsOf(config, target);
  try {
    const { plan, sessions, facts } = await read();
    await requireRestorable({ config, ids });
    const ensembleId = target.ensembleId ?? randomUUID();
    const result = target.plan
      ? { written: 'nothing, because this is a plan' }
      : await writeMembers({ config, ids, ensembleId, plan });
    print({ ...facts, ...planFacts(plan, sessions), ...result }, target.json);
    return 0;
  } catch (error) {
    if (error instanceof SnapshotFileError || error instanceof ZooKeeperDataError) {
      process.stderr.write(visible(`rookery: ${name} is damaged: ${error.message}\n`));
      return 1;
    }
    throw error;
  }
}

function idsOf(config: Config, { id, config: file }: RestoreTarget): readonly number[] {
  if (id === null) return config.servers.map((server) => server.id);
  requireServer(config, file, id);
  return [id];
}

async function writeMembers(setup: Parameters<typeof restoreMembers>[0]): Promise<Facts> {
  const digest = await restoreMembers(setup);
  const { ids, ensembleId, config } = setup;
  const left = config.servers.map(({ id }) => id).filter((id) => !ids.includes(id));
  const others =
    left.length === 0
      ? {}
      : {
          'not written here': `${membersText(left)}: each needs --ensemble-id ${ensembleId}`,
        };
  return {
    written: membersText(ids),
    'ensemble id': ensembleId,
    'state digest': digest,
    ...others,
  };
}

function membersText(ids: readonly number[]): string {
  return `member${ids.length === 1 ? '' : 's'} ${ids.join(', ')}`;
}

async function snapshotSource(file: string): Promise<Source> {
  await readable(file, () => checkChecksum(file));
  const planner = new RestorePlanner();
  const { zxid, digest, lastZxid, sessions } = await readable(file, () =>
    readSnapshotFile(file, (node) => planner.add(node)),
  );
  const at = zxid ?? lastZxid ?? digest?.zxid ?? null;
  if (at === null) {
    throw new OperatorError(
      `the name of ${file} does not contain its zxid: name it snapshot.<zxid in hex>`,
    );
  }
  if (digest !== null && digest.kept !== digest.computed) {
    throw new OperatorError(
      `${file} was written while its tree changed and is right only together with the log behind ` +
        'it: use `rookery import zookeeper`',
    );
  }
  const verdict = digest === null ? 'the file has none' : 'matches';
  const facts = { source: file, zxid: hex(at), digest: verdict };
  return { plan: planner.plan(at), sessions: sessions.size, facts };
}

async function survivorSource({ config, ids }: Survivors): Promise<Source> {
  let newest: (StoppedMember & { readonly id: number }) | null = null;
  const found: string[] = [];
  for (const id of ids) {
    const member = await readMember({ config, id });
    const { state, checkpointZxid } = member;
    const zxids = `committed for certain up to ${zxidText(checkpointZxid)}`;
    found.push(`member ${id}: logged up to ${zxidText(state.lastZxid)}, ${zxids}`);
    // Keeps at most two trees in memory, regardless of the number of survivors.
    const one = { ...member, id };
    newest = newestSurvivor(newest === null ? [one] : [newest, one]);
  }
  if (newest === null) throw new OperatorError('name at least one member with --from');
  const { state, id } = newest;
  const facts = { survivors: found, source: `member ${id}`, zxid: zxidText(state.lastZxid) };
  return { plan: recoveryPlan(newest), sessions: state.sessions.count, facts };
}

async function zooKeeperSource({
  dataDir,
  logDir,
  stopAtDamage,
}: ZooKeeperSource): Promise<Source> {
  const read = await readable(dataDir, () => {
    return readZooKeeperDirectory({ dataDir, logDir: logDir ?? dataDir, stopAtDamage });
  });
  const { znodes, lastZxid, sessions, digests } = read;
  const { differsAt } = digests;
  if (differsAt !== null && !stopAtDamage) throw digestProblem(dataDir, differsAt, read.counterEnd);
  const differing = differsAt === null ? '' : `; the one at zxid ${hex(differsAt)} differs`;
  const planner = new RestorePlanner();
  for (const node of znodes.nodes()) planner.add(node);
  const facts = {
    source: dataDir,
    snapshot: read.snapshot,
    ...(read.passedOver.length === 0 ? {} : { 'passed over': read.passedOver }),
    logs: read.logs.length,
    transactions: read.transactions,
    zxid: hex(lastZxid),
    digests: `${digests.equal} compared and equal${differing}`,
    ...(read.damage === null ? {} : { damage: read.damage }),
  };
  return { plan: planner.plan(lastZxid), sessions, facts };
}

function digestProblem(
  dataDir: string,
  differsAt: bigint,
  counterEnd: ReadDirectory['counterEnd'],
): Error {
  const what = `the digest that ZooKeeper wrote at zxid ${hex(differsAt)} is not that of the znodes`;
  if (counterEnd === null || counterEnd.zxid > differsAt) return new ZooKeeperDataError(what);
  return new OperatorError(
    `${dataDir} cannot be proved to be whole: ${what}. More than 2147483647 children of ` +
      `${counterEnd.path} have been created, and from zxid ${hex(counterEnd.zxid)} on ` +
      "ZooKeeper's own digests are wrong for that reason. Add --stop-at-damage to import the " +
      'data without this proof',
  );
}

async function readable<T>(file: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const reason =
      error.code === 'EISDIR' ? 'it is a directory; name one of the files in it' : error.message;
    throw new OperatorError(`${file} cannot be read: ${reason}`, { cause: error });
  }
}

function planFacts({ counts, schemes, zxid }: RestorePlan, sessions: number): Facts {
  const { znodes, dataBytes, containers, ttlZnodes, ephemerals, withoutAcl } = counts;
  const kinds = `${countText(containers, 'container')}, ${ttlZnodes} with a time to live`;
  const named = [...schemes].map(([scheme, count]) => `${scheme} (${countText(count, 'znode')})`);
  return {
    znodes: `${znodes} (${kinds})`,
    'data bytes': dataBytes,
    dropped: `${countText(sessions, 'session')} with ${countText(ephemerals, 'ephemeral znode')}`,
    ...(withoutAcl === 0
      ? {}
      : { 'without an ACL': `${countText(withoutAcl, 'znode')}, open to all now` }),
    'ACL schemes': named,
    'new zxid': hex(BigInt(zxid)),
  };
}

function print(facts: Facts, json: boolean): void {
  if (json) {
    process.stdout.write(visible(`${JSON.stringify(facts, null, 2)}\n`));
    return;
  }
  const width = Math.max(...Object.keys(facts).map((name) => name.length)) + 2;
  for (const [name, value] of Object.entries(facts)) {
    const texts = Array.isArray(value) ? value : [String(value)];
    for (const [at, text] of texts.entries()) {
      process.stdout.write(visible(`${(at === 0 ? name : '').padEnd(width)}${text}\n`));
    }
  }
}

function zxidText(zxid: number): string {
  return hex(BigInt(zxid));
}

function hex(zxid: bigint): string {
  return `0x${zxid.toString(16)}`;
}
