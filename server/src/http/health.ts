/**
 * Probes whether a member lives and whether it serves: `/livez` and `/readyz`, as Kubernetes has
 * them.
 *
 * `/livez` does not depend on the quorum, so that members that only wait for each other are not
 * restarted: it is false while a write to the log has waited for longer than `syncLimit`, and
 * unanswered while the event loop is blocked. `/readyz` is whether clients should be sent here.
 * Both list each check with `?verbose`, leave some out with `?exclude=a,b`, and have each check as
 * a path below them.
 */
import type { HealthView } from '../net/member-view.js';
import { type HttpAnswer, HttpError } from './http-port.js';

/** With more transactions that are not applied, clients would see a state that is too old. */
export const UNAPPLIED_MAX = 10_000;

interface HealthFacts {
  readonly health: HealthView;
}

/** A sentence about what is wrong; null for nothing. */
type Check = (facts: HealthFacts) => string | null;

const storage: Check = ({ health: { writeWaitMs, writeWaitMsMax } }) =>
  writeWaitMs <= writeWaitMsMax
    ? null
    : `a write to the log has waited for ${secondsOf(writeWaitMs)}`;

const LIVE: Readonly<Record<string, Check>> = {
  // An answer proves it.
  event_loop: () => null,
  storage,
};

const READY: Readonly<Record<string, Check>> = {
  leader: ({ health }) => {
    if (health.role !== 'looking') return null;
    const waits = health.waitsFor === null ? '' : `: ${health.waitsFor}`;
    return `it has neither led nor followed for ${secondsOf(health.roleForMs)}${waits}`;
  },
  caught_up: ({ health: { unapplied } }) =>
    unapplied <= UNAPPLIED_MAX ? null : `${unapplied} committed transactions are not applied yet`,
  disk: ({ health: { diskShortage: short, sparedBy } }) => {
    if (short === null) return null;
    const sizes = `${megabytes(short.freeBytes)} free, below ${megabytes(short.reserveBytes)}`;
    return sparedBy === 0
      ? `${sizes} it takes no data`
      : `${sizes} it has stepped out, and leader ${sparedBy} goes on without it`;
  },
  storage,
};

/** What operators have to know although the member is ready. */
const NOTES: Readonly<Record<string, Check>> = {
  storage: ({ health: { damage, checkpointGivenUp: givenUp } }) => {
    if (damage !== null) {
      return `damage of the disk is being repaired${waitsText(damage)}: ${damage.reason}`;
    }
    if (givenUp === null) return null;
    const what = 'a checkpoint was given up because the disk was full, and is written again';
    return `${what}${waitsText(givenUp)}; nothing is damaged: ${givenUp.reason}`;
  },
};

function waitsText({ waitsFor }: { readonly waitsFor: string | null }): string {
  return waitsFor === null ? '' : `, which waits for ${waitsFor}`;
}

const PROBES: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  livez: LIVE,
  readyz: READY,
  startupz: READY,
};

/** Null for a path that is none of these. */
export function probeOf(
  path: string,
): { readonly probe: string; readonly check: string | null } | null {
  const match = /^\/(livez|readyz|startupz)(?:\/(\w+))?\/?$/.exec(path);
  return match === null ? null : { probe: match[1] ?? '', check: match[2] ?? null };
}

export function isReady(facts: HealthFacts): boolean {
  return Object.values(READY).every((check) => check(facts) === null);
}

/**
 * The answer to `path`, which `probeOf` knows. Without `mayTell` it is only yes or no. Throws
 * HttpError for an unknown check.
 */
export function healthAnswer(
  { path, query }: { readonly path: string; readonly query: URLSearchParams },
  facts: HealthFacts,
  { mayTell = true }: { readonly mayTell?: boolean } = {},
): HttpAnswer {
  const asked = probeOf(path);
  const checks = PROBES[asked?.probe ?? ''];
  if (asked === null || checks === undefined) throw new HttpError(404, `There is no ${path}.`);
  const { probe, check } = asked;
  const known = Object.keys(checks);
  const excluded = query.getAll('exclude').flatMap((list) => list.split(','));
  const wanted = check === null ? known : [check];
  const unknown = [...wanted, ...excluded].find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new HttpError(
      404,
      `There is no check "${unknown}" (the checks are ${known.join(', ')}).`,
    );
  }
  const lines = wanted.map((name) => {
    if (excluded.includes(name)) return `[+]${name} excluded: ok`;
    const wrong = checks[name]?.(facts) ?? null;
    if (wrong !== null) return `[-]${name} failed: ${wrong}`;
    const note = NOTES[name]?.(facts) ?? null;
    return note === null ? `[+]${name} ok` : `[+]${name} ok, but ${note}`;
  });
  const isGood = lines.every((line) => line.startsWith('[+]'));
  const isTold = mayTell && (query.has('verbose') || !isGood);
  const last = isGood ? 'ok' : `${probe} check failed`;
  const body = isTold ? [...lines, isGood ? `${probe} check passed` : last] : [last];
  return { status: isGood ? 200 : 503, type: 'text/plain', body: `${body.join('\n')}\n` };
}

function secondsOf(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function megabytes(bytes: number): string {
  return `${Math.floor(bytes / 1e6)} MB`;
}
