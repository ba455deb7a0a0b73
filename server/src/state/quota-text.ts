/**
 * The znodes that hold a quota: where they are, and the text in them.
 *
 * The text is `count=N,bytes=M`, and with hard limits
 * `count=N,bytes=M=;byteHardLimit=B;countHardLimit=C`: the odd `=` keeps old parsers working. -1
 * stands for no limit, as does anything that cannot be parsed, because anybody may write anything
 * there. Nothing here knows of a tree.
 */

export const QUOTA_ROOT = '/zookeeper/quota';
const SYSTEM_ROOT = '/zookeeper';
const LIMITS_NAME = 'zookeeper_limits';
const STATS_NAME = 'zookeeper_stats';
const NONE = -1;

export interface QuotaLimits {
  readonly count: number;
  readonly bytes: number;
  readonly countHard: number;
  readonly bytesHard: number;
}
export interface QuotaStats {
  readonly count: number;
  readonly bytes: number;
}

export function limitsPathOf(prefix: string): string {
  return `${QUOTA_ROOT}${prefix}/${LIMITS_NAME}`;
}
export function statsPathOf(prefix: string): string {
  return `${QUOTA_ROOT}${prefix}/${STATS_NAME}`;
}

/** The path whose limits are stored at `path`, or null; the root and system nodes have no quota. */
export function limitedBy(path: string): string | null {
  return prefixOf(path, LIMITS_NAME);
}
/** The path whose statistics are stored at `path`; null for every other node. */
export function measuredAt(path: string): string | null {
  return prefixOf(path, STATS_NAME);
}

export function readLimits(data: Uint8Array | null): QuotaLimits {
  const values = valuesOf(data);
  return {
    count: values.get('count') ?? NONE,
    bytes: values.get('bytes') ?? NONE,
    countHard: values.get('countHardLimit') ?? NONE,
    bytesHard: values.get('byteHardLimit') ?? NONE,
  };
}

export function readStats(data: Uint8Array | null): QuotaStats {
  const values = valuesOf(data);
  return { count: values.get('count') ?? NONE, bytes: values.get('bytes') ?? NONE };
}

export function writeStats({ count, bytes }: QuotaStats): Uint8Array {
  return Buffer.from(`count=${count},bytes=${bytes}`);
}

function prefixOf(path: string, name: string): string | null {
  const end = path.length - name.length - 1;
  if (end <= QUOTA_ROOT.length || !path.endsWith(name) || path[end] !== '/') {
    return null;
  }
  if (!path.startsWith(`${QUOTA_ROOT}/`)) {
    return null;
  }
  const prefix = path.slice(QUOTA_ROOT.length, end);
  // The data of /zookeeper/config is each member's own, so it must not be in a replicated sum.
  return prefix === SYSTEM_ROOT || prefix.startsWith(`${SYSTEM_ROOT}/`) ? null : prefix;
}

function valuesOf(data: Uint8Array | null): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const pair of Buffer.from(data ?? [])
    .toString('utf8')
    .split(/[,;]+/)) {
    const [key = '', value = ''] = pair.split('=');
    if (/^-?\d{1,15}$/.test(value)) {
      values.set(key, Number(value));
    }
  }
  return values;
}
