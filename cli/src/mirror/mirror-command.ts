/**
 * `rookery mirror` copies a subtree from one ensemble into another and follows it until the
 * cut-over. Either end is Rookery or ZooKeeper; to be followed, the source must be 3.6 or later.
 *
 * SIGINT or SIGTERM is the cut-over once the source is followed: changes until then are copied,
 * both ends are compared once more, and the report says what differs. A second signal, or one
 * before that, ends at once. Exit code 0: both are equal in everything that can be copied; 1: they
 * are not; 2: a mistake of the caller. What either end asks for as a proof comes from the
 * environment, so that it is in no list of processes.
 */
import {
  type Client,
  connect,
  ensurePath,
  parseConnectString,
  type Stat,
  type StateChange,
} from '@rookery/client';
import { errorMessage } from '@rookery/protocol';
import { OperatorError, ownerKind } from '@rookery/server';
import { clientTlsOf, credentialOf, proofsOf, tlsOfEnvironment } from '../command/client-proofs.js';
import { countText } from '../command/values.js';
import { visible } from '../terminal/visible-text.js';
import { OwnAccess } from '../znodes/own-access.js';
import { isWithin } from '../znodes/paths.js';
import { Follower } from './follower.js';
import { Reconciler, type ReconcilerOptions } from './reconciler.js';
import {
  finalReportOf,
  isEqual,
  type Report,
  reportOf,
  textOf,
  troublesLeft,
  troublesPlanned,
} from './report.js';
import type { Ends, WritableEnds } from './steps.js';
import { isFinal } from './steps.js';
import { Tally, type Troubles } from './tally.js';

interface MirrorCommand {
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
const EXIT_UNEQUAL = 1;
/** So many creates take about a second. */
const STEPS_TOLD = 50_000;

/** Resolves with the exit code. */
export async function runMirror(command: MirrorCommand): Promise<number> {
  const cutOver = new AbortController();
  const abort = new AbortController();
  const progress = { isFollowing: false };
  const onSignal = (): void => {
    const isCutOver = progress.isFollowing && !cutOver.signal.aborted;
    if (!isCutOver) return abort.abort(new Ended(cutOver.signal.aborted));
    say(
      'cut-over: carrying what is left, then both ends are compared; a second signal ends at once',
    );
    cutOver.abort();
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  const clients: Client[] = [];
  let outcome: Outcome;
  try {
    const { signal } = abort;
    const source = await clientOf(command.from, { option: '--from', variables: FROM, signal });
    clients.push(source);
    const target = await clientOf(command.to, { option: '--to', variables: TO, signal });
    clients.push(target);
    const onFollowing = () => {
      progress.isFollowing = true;
    };
    const signals = { cutOver: cutOver.signal, abort: signal, onFollowing };
    outcome = await mirror({ source, target }, command, signals);
  } catch (error) {
    const { reason } = abort.signal;
    if (!(reason instanceof Ended)) {
      throw isFinal(error) ? new OperatorError(error.message, { cause: error }) : error;
    }
    say(reason.message);
    return EXIT_UNEQUAL;
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    await Promise.all(clients.map((client) => client.close()));
  }
  // Printed once the sessions have ended, because output that cannot be written ends the process.
  print(outcome.report, command.json);
  if (outcome.isEqual) return 0;
  for (const [name, troubles] of outcome.troubles) sayTroubles(name, troubles);
  return EXIT_UNEQUAL;
}

/** A signal has ended the command; what is copied stays. */
class Ended extends Error {
  constructor(isAfterCutOver: boolean) {
    const when = isAfterCutOver ? 'the last comparison' : 'the copy was complete';
    super(`ended before ${when}: the same command goes on from what is there`);
  }
}

interface Outcome {
  readonly report: Report;
  /** Whether both trees are equal now; for a plan, whether it can be carried out as a whole. */
  readonly isEqual: boolean;
  readonly troubles: readonly (readonly [string, Troubles])[];
}

interface Signals {
  readonly cutOver: AbortSignal;
  readonly abort: AbortSignal;
  onFollowing(): void;
}

/** The clients are of whole ensembles. */
async function mirror(whole: Ends, command: MirrorCommand, signals: Signals): Promise<Outcome> {
  const ends = {
    source: viewOf(whole.source, command.from),
    target: viewOf(whole.target, command.to),
  };
  const root = await requireSource(ends.source, command.from);
  await requireApart(ends);
  const how = { rootCzxid: command.deleteRoot ? null : root.czxid, signal: signals.abort };
  const planned = { ...how, purpose: 'plan', deletes: command.delete } as const;
  if (command.plan) {
    const plan = await compared(await withAccess(ends, whole.target), planned);
    return { report: reportOf(plan), isEqual: plan.isComplete, troubles: troublesPlanned(plan) };
  }
  await makeRoot(ends.target, command.to);
  // The target may be a znode of the source only since it was made.
  await ends.source.sync('/');
  await requireApart(ends);
  const both = await withAccess(ends, whole.target);
  tellBefore(await compared(both, planned));
  const follower = new Follower(both, { ...command, ...signals, ...how, listens: !command.once });
  const progress = setInterval(() => sayProgress(follower), PROGRESS_MS);
  try {
    await follower.compareAll();
    if (!command.once) {
      signals.onFollowing();
      say(followingText(follower.tally));
      await follower.run();
    }
    await ends.source.sync('/');
    await follower.compareAll();
    const left = await compared(both, { ...how, purpose: 'verify', deletes: true });
    if (left.unfinished > 0) {
      const finishing = { ...how, purpose: 'apply', deletes: true } as const;
      await new Reconciler(both, finishing, left).finish('/');
    }
    const report = finalReportOf(follower.tally, left);
    return { report, isEqual: isEqual(left), troubles: troublesLeft(follower.tally, left) };
  } finally {
    clearInterval(progress);
  }
}

async function makeRoot(target: Client, to: string): Promise<void> {
  try {
    await ensurePath(target, '/');
  } catch (error) {
    if (!isFinal(error)) throw error;
    const reason = error.message;
    throw new OperatorError(`--to ${to}: its root cannot be made: ${reason}`, { cause: error });
  }
}

async function withAccess(ends: Ends, whole: Client): Promise<WritableEnds> {
  return { ...ends, access: await OwnAccess.at(whole, ends.target.prefix || '/') };
}

/** The subtree that a connect string names. */
function viewOf(whole: Client, connectString: string): Client {
  const { chroot } = parseConnectString(connectString);
  return chroot === '' ? whole : whole.namespace(chroot);
}

/** Compares everything without a change. */
async function compared(ends: WritableEnds, how: ReconcilerOptions): Promise<Tally> {
  const tally = new Tally();
  await new Reconciler(ends, how, tally).subtree('/');
  return tally;
}

/**
 * Reports what the target will refuse. Extra znodes at the target may be data in use, so they are
 * deleted only with `--delete`.
 */
function tellBefore({ extras, refused, sequences, sequenceSteps }: Tally): void {
  sayTroubles('will be refused', refused);
  if (sequenceSteps >= STEPS_TOLD) {
    const of = `the next sequential children of ${countText(sequences.count, 'znode')}`;
    say(
      `to raise the numbers of ${of}, ${countText(sequenceSteps, 'create')} and deletes are needed`,
    );
  }
  if (extras.count === 0) return;
  throw new OperatorError(
    `the target has ${countText(extras.count, 'znode')} that the source does not have, ` +
      `such as ${extras.examples[0]}; --delete removes what is only there`,
  );
}

async function requireSource(source: Client, from: string): Promise<Stat> {
  const root = await source.exists('/').catch((error: unknown) => {
    if (!isFinal(error)) throw error;
    throw new OperatorError(`--from ${from}: ${error.message}`, { cause: error });
  });
  if (root === null) throw new OperatorError(`--from ${from}: no such znode`);
  if (ownerKind(BigInt.asIntN(64, root.ephemeralOwner)) !== 'session') return root;
  throw new OperatorError(`--from ${from}: the znode is ephemeral, so it cannot be carried`);
}

/** A subtree that is mirrored into itself would grow without end, or delete its own source. */
async function requireApart({ source, target }: Ends): Promise<void> {
  const [outer, inner] = [source.prefix, target.prefix];
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

interface EndOptions {
  readonly option: string;
  /** The prefix of its environment variables. */
  readonly variables: string;
  readonly signal: AbortSignal;
}

/** A client of the whole ensemble. */
async function clientOf(
  connectString: string,
  { option, variables, signal }: EndOptions,
): Promise<Client> {
  const credential = process.env[`${variables}AUTH`] ?? '';
  const proofs = proofsOf(credential === '' ? [] : [credentialOf(credential)]);
  const paths = tlsOfEnvironment(process.env, `${variables}TLS`);
  const tls = paths === null ? {} : { tls: clientTlsOf(paths) };
  try {
    parseConnectString(connectString);
    const hosts = connectString.split('/', 1)[0] ?? '';
    const client = await connect(hosts, { ...proofs, ...tls, name: option.slice(2), signal });
    client.onState(({ state }: StateChange) => {
      if (state !== 'connected' && state !== 'closed') say(`${option}: ${state}`);
    });
    return client;
  } catch (error) {
    const reason = errorMessage(error);
    throw new OperatorError(`${option} ${connectString}: ${reason}`, { cause: error });
  }
}

function print(report: Report, json: boolean): void {
  process.stdout.write(visible(json ? `${JSON.stringify(report, null, 2)}\n` : textOf(report)));
}

function sayProgress({ tally, behind }: Follower): void {
  const { created, changed, deleted, znodes, raising } = tally;
  const done = `${created} created, ${changed} changed, ${deleted} deleted`;
  say(`${countText(znodes, 'znode')} compared, ${done}, ${behind} behind`);
  if (raising === null) return;
  const { path, done: raised, of } = raising;
  say(
    `raising the number of the next sequential znode in ${JSON.stringify(path)}: ${raised} of ${of}`,
  );
}

function followingText({ refused }: Tally): string {
  const equal = refused.count === 0 ? 'both ends are equal' : 'what is not refused is equal';
  return `${equal}; following the source until SIGINT or SIGTERM`;
}

function sayTroubles(name: string, { count, examples }: Troubles): void {
  for (const example of examples) say(`${name}: ${example}`);
  if (count > examples.length) say(`${name}: ${count - examples.length} more`);
}

function say(text: string): void {
  process.stderr.write(`${visible(text)}\n`);
}
