/**
 * What bytes mean to the recipes of Curator, kazoo and our client, and to ZooKeeper itself.
 *
 * Recognized by the bytes and by the name of the znode; a guess is said to be one. Pure.
 */
import { addressText } from '../../live/address-text.js';
import { nameOf, parentOf } from '../paths.js';

export interface Payload {
  /** What it is, as a sentence. */
  readonly title: string;
  readonly facts: readonly (readonly [string, string])[];
  /** The items of a queue's entry. */
  readonly items?: readonly Uint8Array[];
}

const QUEUE_VERSION = 0x0001_0001;
const QUEUE_ITEM = 1;
const QUEUE_END = 2;
/** The number of items that are shown. */
const ITEMS_MAX = 1_000;
/** What Curator and our client put before a contender's number, and what kazoo puts there. */
const KINDS = '(lock|lease|latch|n_|__(READ|WRIT)__)-?';
const KAZOO_KINDS = '__(lock|rlock)__';
const CONTENDER = new RegExp(`(^|-)${KINDS}-?\\d{10}$|${KAZOO_KINDS}\\d{10}$`);

export function payloadOf(bytes: Uint8Array, path: string): Payload | null {
  return (
    queueEntry(bytes) ??
    quota(bytes, path) ??
    configuration(bytes, path) ??
    serviceInstance(bytes) ??
    contender(bytes, path) ??
    number(bytes)
  );
}

/** Version, then for each item 1, its length and its bytes, and 2 at the end. */
function queueEntry(bytes: Uint8Array): Payload | null {
  if (bytes.length < 5) return null;
  const view = viewOf(bytes);
  if (view.getInt32(0) !== QUEUE_VERSION) return null;
  const items: Uint8Array[] = [];
  let at = 4;
  while (bytes[at] === QUEUE_ITEM) {
    if (at + 5 > bytes.length) return null;
    const length = view.getInt32(at + 1);
    const end = at + 5 + length;
    if (length < 0 || end > bytes.length) return null;
    if (items.length < ITEMS_MAX) items.push(bytes.subarray(at + 5, end));
    at = end;
  }
  if (bytes[at] !== QUEUE_END || at !== bytes.length - 1) return null;
  const facts = [['Items', String(items.length)]] as const;
  return { title: 'An entry of a Curator queue.', facts, items };
}

/** Exactly 4 or 8 bytes that are no text: Curator's SharedCount and DistributedAtomicLong. */
function number(bytes: Uint8Array): Payload | null {
  if (bytes.length !== 4 && bytes.length !== 8) return null;
  if (bytes.every((byte) => byte >= 0x20 && byte < 0x7f)) return null;
  const view = viewOf(bytes);
  const value = bytes.length === 4 ? BigInt(view.getInt32(0)) : view.getBigInt64(0);
  const what = bytes.length === 4 ? 'SharedCount' : 'DistributedAtomicLong';
  return {
    title: `Perhaps a number, as Curator's ${what} writes it.`,
    facts: [['Value', String(value)], ...momentFact(value)],
  };
}

function momentFact(value: bigint): readonly (readonly [string, string])[] {
  const isMoment = value > 1_000_000_000_000n && value < 4_000_000_000_000n;
  return isMoment ? [['As ms since 1970', new Date(Number(value)).toISOString()]] : [];
}

function quota(bytes: Uint8Array, path: string): Payload | null {
  const isQuota = path.startsWith('/zookeeper/quota/');
  const name = nameOf(path);
  if (!isQuota || (name !== 'zookeeper_limits' && name !== 'zookeeper_stats')) return null;
  const of = parentOf(path).slice('/zookeeper/quota'.length);
  const text = new TextDecoder().decode(bytes.subarray(0, 1_000));
  const facts = text
    .split(/[,;]/)
    .map((pair) => pair.split('='))
    .filter((pair): pair is [string, string] => pair.length === 2)
    .map(([key, value]) => [QUOTA_WORDS[key] ?? key, value === '-1' ? 'no limit' : value] as const);
  const what =
    name === 'zookeeper_limits' ? 'The limits of the quota' : 'What counts for the quota';
  return { title: `${what} of ${of}.`, facts };
}

const QUOTA_WORDS: Readonly<Record<string, string>> = {
  count: 'Znodes',
  bytes: 'Bytes',
  countHardLimit: 'Znodes, enforced',
  byteHardLimit: 'Bytes, enforced',
};

function configuration(bytes: Uint8Array, path: string): Payload | null {
  if (path !== '/zookeeper/config' || bytes.length === 0) return null;
  const lines = new TextDecoder().decode(bytes.subarray(0, 20_000)).split('\n');
  const facts = lines
    .map((line) => /^([^=]+)=(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, key = '', value = '']) => [key, value] as const);
  return { title: 'The members of the ensemble, as every member has them.', facts };
}

/** The JSON of Curator's x-discovery, which others write, too. */
function serviceInstance(bytes: Uint8Array): Payload | null {
  if (bytes[0] !== 0x7b || bytes.length > 20_000) return null;
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
  } catch {
    // It is no JSON, so it is no instance of a service.
    return null;
  }
  if (!('serviceType' in value && 'name' in value && 'id' in value)) return null;
  const time = value['registrationTimeUTC'];
  const facts = [
    ['Service', value['name']],
    ['Address', addressText(String(value['address']), String(value['sslPort'] ?? value['port']))],
    ['Registered', typeof time === 'number' ? new Date(time).toISOString() : null],
    ['Type', value['serviceType']],
  ] as const;
  return {
    title: 'An instance of a service, as Curator’s service discovery writes it.',
    facts: facts.flatMap(([name, fact]) =>
      fact === null || fact === undefined ? [] : [[name, String(fact)] as const],
    ),
  };
}

function contender(bytes: Uint8Array, path: string): Payload | null {
  if (!CONTENDER.test(nameOf(path)) || bytes.length > 200) return null;
  const text = new TextDecoder().decode(bytes);
  const isText = bytes.length > 0 && /^[\x20-\x7e]+$/.test(text);
  return {
    title: 'A contender for a lock, a lease or a leadership.',
    facts: [
      ['Its place in the queue', String(Number(nameOf(path).slice(-10)))],
      ...(isText ? [['It says of itself', text] as const] : []),
    ],
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
