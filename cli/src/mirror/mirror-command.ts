/**
 * `rookery mirror` copies a subtree from one ensemble into another and follows it until the
 * cut-over. Either end is Rookery or ZooKeeper; to be followed, the source must be 3.6 or later.
 *
 * SIGINT or SIGTERM is the cut-over: changes until then are copied, both ends are compared once
 * more, and the report says what differs. A second signal ends at once. Exit code 0: both are equal
 * in everything that can be copied; 1: they are not; 2: a mistake of the caller. What either end
 * asks for as a proof comes from the environment, so that it is in no list of processes.
 */
import { type Client, connect, ensurePath, type Stat, type StateChange } from '@rookery/client';
import { errorMessage } from '@rookery/protocol';
import { OperatorError, ownerKind } from '@rookery/server';
import { counted } from '../counted.js';
import { isWithin } from '../paths.js';
import { clientTlsOf, credentialOf, proofsOf, tlsOfEnvironment } from '../shell/client-proofs.js';
import { visible } from '../visible-text.js';
import type { Ends } from './ends.js';
import { Follower } from './follower.js';
import { Reconciler, type ReconcilerOptions } from './reconciler.js';
import { type Report, reportOf, textOf } from './report.js';
import { Tally } from './tally.js';

export interface MirrorCommand {
  /** Connect strings, each followed by the path of the subtree unless it is the whole tree. */
  readonly from: string;
  readonly to: string;
  /** Only reports what would be done. */
  readonly plan: boolean;
  /** Copies and compares, and does not follow. */
  readonly once: boolean;
  /** Deletes what only the target has, before anything is followed. */
  readonly delete: boolean;
  /** Whether a deletion of the source's root is followed, too. */
  readonly deleteRoot: boolean;
  readonly compareEveryMs: number;
  readonly json: boolean;
}

/**
 * What AUTH, TLS, TLS_CA, TLS_CERT and TLS_KEY come after, as in ROOKERY_MIRROR_FROM_TLS_CA and
 * ROOKERY_MIRROR_TO_AUTH.
 */
const FROM = 'ROOKERY_MIRROR_FROM_';
const TO = 'ROOKERY_MIRROR_TO_';
const PROGRESS_MS = 5000;

/** Resolves with the exit code. */
export async function runMirror(command: MirrorCommand): Promise<number> {
  const cutOver = new AbortController();
  const abort = new AbortController();
  const onSignal = (): void => {
    if (cutOver.signal.aborted) abort.abort(new OperatorError('ended before the last comparison'));
    say('cut-over: carrying what is left, then both ends are compared');
    cutOver.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const clients: Client[] = [];
  let outcome: Outcome;
  try {
    const source = await clientOf(command.from, '--from', FROM);
    clients.push(source);
    const target = await clientOf(command.to, '--to', TO);
    clients.push(target);
    const signals = { cutOver: cutOver.signal, abort: abort.signal };
    outcome = await mirror({ source, target }, command, signals);
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    await Promise.all(clients.map((client) => client.close()));
  }
  // Printed once the sessions have ended, because output that cannot be written ends the process.
  print(outcome.report, command.json);
  return outcome.isEqual ? 0 : 1;
}

interface Outcome {
  readonly report: Report;
  /** Whether both trees are equal now; for a plan, whether it can be carried out as a whole. */
  readonly isEqual: boolean;
}

interface Signals {
  readonly cutOver: AbortSignal;
  readonly abort: AbortSignal;
}

async function mirror(ends: Ends, command: MirrorCommand, signals: Signals): Promise<Outcome> {
  const root = await requireSource(ends.source, command.from);
  await requireApart(ends, command);
  const how = { rootCzxid: command.deleteRoot ? null : root.czxid, signal: signals.abort };
  if (command.plan) {
    const plan = await compared(ends, { ...how, deletes: command.delete });
    return { report: reportOf('plan', plan, null), isEqual: plan.isComplete };
  }
  await ensurePath(ends.target, '/');
  // The target may be a znode of the source only since it was made.
  await ends.source.sync('/');
  await requireApart(ends, command);
  if (!command.delete) await requireNoExtras(ends, how);
  const follower = new Follower(ends, { ...command, ...signals, ...how, listens: !command.once });
  const progress = setInterval(() => {
    const { created, changed, deleted, znodes } = follower.tally;
    const done = `${created} created, ${changed} changed, ${deleted} deleted`;
    say(`${counted(znodes, 'znode')} compared, ${done}, ${follower.behind} behind`);
  }, PROGRESS_MS);
  try {
    await follower.compareAll();
    if (!command.once) {
      say('both ends are equal; following the source until SIGINT or SIGTERM');
      await follower.run();
    }
    await ends.source.sync('/');
    await follower.compareAll();
  } finally {
    clearInterval(progress);
  }
  const left = await compared(ends, { ...how, deletes: true });
  return {
    report: reportOf('mirror', left, follower.tally),
    isEqual: left.isComplete && left.changes === 0,
  };
}

/** Compares everything without a change. */
async function compared(ends: Ends, how: Omit<ReconcilerOptions, 'apply'>): Promise<Tally> {
  const tally = new Tally();
  await new Reconciler(ends, { ...how, apply: false }, tally).subtree('/');
  return tally;
}

/**
 * Znodes that exist at the target may be somebody's data, so they are not removed without being
 * asked.
 */
async function requireNoExtras(
  ends: Ends,
  how: Omit<ReconcilerOptions, 'apply' | 'deletes'>,
): Promise<void> {
  const { extras } = await compared(ends, { ...how, deletes: false });
  if (extras.count === 0) return;
  throw new OperatorError(
    `the target has ${counted(extras.count, 'znode')} that the source does not have, ` +
      `such as ${extras.examples[0]}; --delete removes what is only there`,
  );
}

async function requireSource(source: Client, from: string): Promise<Stat> {
  const root = await source.exists('/');
  if (root === null) throw new OperatorError(`--from ${from}: no such znode`);
  if (ownerKind(BigInt.asIntN(64, root.ephemeralOwner)) !== 'session') return root;
  throw new OperatorError(`--from ${from}: the znode is ephemeral, so it cannot be carried`);
}

/** A subtree that is mirrored into itself would grow without end, or delete its own source. */
async function requireApart({ source, target }: Ends, { from, to }: MirrorCommand): Promise<void> {
  const [outer, inner] = [rootOf(from), rootOf(to)];
  const isAbove = isWithin(inner, outer);
  if (!isAbove && !isWithin(outer, inner)) return;
  const [above, within] = isAbove ? [source, target] : [target, source];
  const [top, below] = isAbove ? [outer, inner] : [inner, outer];
  const seen = await above.exists(below.slice(top.length) || '/');
  const itself = await within.exists('/');
  if (seen === null || itself === null || itself.czxid === 0n) return;
  if (seen.czxid !== itself.czxid || seen.ctime !== itself.ctime) return;
  throw new OperatorError('--from and --to lie within each other in one ensemble');
}

/** The path of the subtree in a connect string, without a slash at its end; '' for all. */
function rootOf(connectString: string): string {
  const at = connectString.indexOf('/');
  return at < 0 ? '' : connectString.slice(at).replace(/\/$/, '');
}

async function clientOf(hosts: string, option: string, variables: string): Promise<Client> {
  const credential = process.env[`${variables}AUTH`] ?? '';
  const proofs = proofsOf(credential === '' ? [] : [credentialOf(credential)]);
  const paths = tlsOfEnvironment(process.env, `${variables}TLS`);
  const tls = paths === null ? {} : { tls: clientTlsOf(paths) };
  try {
    const client = await connect(hosts, {
      ...proofs,
      ...tls,
      name: option.slice(2),
    });
    client.onState(({ state }: StateChange) => {
      if (state !== 'connected' && state !== 'closed') say(`${option}: ${state}`);
    });
    return client;
  } catch (error) {
    const reason = errorMessage(error);
    throw new OperatorError(`${option} ${hosts}: ${reason}`, { cause: error });
  }
}

function print(report: Report, json: boolean): void {
  process.stdout.write(visible(json ? `${JSON.stringify(report, null, 2)}\n` : textOf(report)));
}

function say(text: string): void {
  process.stderr.write(`${visible(text)}\n`);
}
