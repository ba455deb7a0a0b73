/**
 * Passwords of the config file as scrypt hashes: `user:$scrypt$ln=15,r=8,p=1$salt$hash`, in the
 * form of PHC with base64 without padding.
 *
 * A guess costs 50 ms of a processor and 32 MB, here as for whoever steals the file. It is computed
 * on another thread, one at a time, since the disk needs those threads, and few may wait, of one
 * address fewer still: strangers can make the member neither slow nor large. The outcome is kept by
 * a keyed digest of the password, so a user who works with the port costs nothing further. Hashes
 * do not change while the process runs, so an outcome holds for as long.
 */
import { createHmac, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { SCRYPT_PATTERN } from '../config/digest-of.js';
import { addressGroup } from './address-group.js';

const derive = promisify<string, Uint8Array, number, object, Buffer>(scrypt);

const FORM = new RegExp(`^${SCRYPT_PATTERN}$`);
/** Memory of 128 * 2^ln * r bytes: 32 MB. */
const NEW = { ln: 15, r: 8, p: 1 } as const;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const MEMORY_BYTES_MAX = 512 << 20;
/** What may wait: three seconds of work. */
const WAITING_MAX = 64;
const WAITING_PER_ADDRESS_MAX = 8;
const OUTCOMES_MAX = 2000;

interface Parameters {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** Resolves with what the config file has in place of the password. */
export async function scryptEntry(userAndPassword: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await hashOf(userAndPassword, salt, NEW);
  const { ln, r, p } = NEW;
  const user = userOf(userAndPassword);
  return `${user}:$scrypt$ln=${ln},r=${r},p=${p}$${unpadded(salt)}$${unpadded(hash)}`;
}

export function isScryptEntry(entry: string): boolean {
  return FORM.test(entry.slice(entry.indexOf(':') + 1));
}

interface Guess {
  readonly key: string;
  readonly text: string;
  readonly group: string;
  readonly whenDone: Promise<void>;
  readonly settle: () => void;
}

export class PasswordHashes {
  /** The entries by their users. */
  readonly #entries = new Map<string, string[]>();
  readonly #key = randomBytes(32);
  /** The entries that a password is right for, by its digest; that asked for last comes last. */
  readonly #outcomes = new Map<string, readonly string[]>();
  readonly #waiting = new Map<string, Guess>();
  #isComputing = false;

  /** Of `entries` those of another form are left out. */
  constructor(entries: readonly string[]) {
    for (const entry of entries.filter(isScryptEntry)) {
      const user = userOf(entry);
      this.#entries.set(user, [...(this.#entries.get(user) ?? []), entry]);
    }
  }

  /**
   * Whether this is the password of the entry. Null while that is not known: it is computed from
   * now on if there is room, and has to be asked again.
   */
  isRight(entry: string, userAndPassword: string, address: string): boolean | null {
    if (!this.#isNamed(userAndPassword)) return false;
    const key = this.#keyOf(userAndPassword);
    const outcome = this.#known(key);
    if (outcome === null) this.#begin(key, userAndPassword, address);
    return outcome?.includes(entry) ?? null;
  }

  /**
   * Null if nothing has to be computed to judge the password; otherwise a promise of when that is
   * done, whose value is false where too many others wait.
   */
  prepare(userAndPassword: string, address: string): Promise<boolean> | null {
    if (!this.#isNamed(userAndPassword)) return null;
    const key = this.#keyOf(userAndPassword);
    if (this.#known(key) !== null) return null;
    const guess = this.#begin(key, userAndPassword, address);
    return guess === null ? Promise.resolve(false) : guess.whenDone.then(() => true);
  }

  /** Judges passwords by one entry; null if it is no such hash, or there is none. */
  judgeOf(entry: string | null): { isRight(text: string, address: string): boolean | null } | null {
    if (entry === null || !isScryptEntry(entry)) return null;
    return { isRight: (text, address) => this.isRight(entry, text, address) };
  }

  #isNamed(userAndPassword: string): boolean {
    return this.#entries.has(userOf(userAndPassword));
  }

  #known(key: string): readonly string[] | null {
    const outcome = this.#outcomes.get(key);
    if (outcome === undefined) return null;
    this.#outcomes.delete(key);
    this.#outcomes.set(key, outcome);
    return outcome;
  }

  #begin(key: string, text: string, address: string): Guess | null {
    const known = this.#waiting.get(key);
    if (known !== undefined) return known;
    if (this.#waiting.size >= WAITING_MAX) return null;
    const group = addressGroup(address);
    let ofGroup = 0;
    for (const guess of this.#waiting.values()) if (guess.group === group) ofGroup += 1;
    if (ofGroup >= WAITING_PER_ADDRESS_MAX) return null;
    let settle = (): void => undefined;
    const whenDone = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const guess = { key, text, group, whenDone, settle };
    this.#waiting.set(key, guess);
    if (!this.#isComputing) void this.#compute();
    return guess;
  }

  /** Never rejects. */
  async #compute(): Promise<void> {
    this.#isComputing = true;
    for (const guess of this.#waiting.values()) {
      const outcome: string[] = [];
      for (const entry of this.#entries.get(userOf(guess.text)) ?? []) {
        // Where the machine has no memory for it, the password counts as wrong.
        if (await isPasswordOf(entry, guess.text).catch(() => false)) outcome.push(entry);
      }
      this.#waiting.delete(guess.key);
      this.#keep(guess.key, outcome);
      guess.settle();
    }
    this.#isComputing = false;
  }

  #keep(key: string, outcome: readonly string[]): void {
    this.#outcomes.set(key, outcome);
    if (this.#outcomes.size <= OUTCOMES_MAX) return;
    // Guesses go first: a client that makes many must not displace those who are right.
    let oldest: string | null = null;
    for (const [other, entries] of this.#outcomes) {
      oldest ??= other;
      if (entries.length > 0 || other === key) continue;
      oldest = other;
      break;
    }
    if (oldest !== null) this.#outcomes.delete(oldest);
  }

  #keyOf(userAndPassword: string): string {
    return createHmac('sha256', this.#key).update(userAndPassword).digest('base64');
  }
}

async function isPasswordOf(entry: string, userAndPassword: string): Promise<boolean> {
  const match = FORM.exec(entry.slice(entry.indexOf(':') + 1));
  if (match === null) return false;
  const [, ln = '', r = '', p = '', salt = '', hash = ''] = match;
  const parameters = { ln: Number(ln), r: Number(r), p: Number(p) };
  const made = await hashOf(userAndPassword, Buffer.from(salt, 'base64'), parameters);
  return timingSafeEqual(made, Buffer.from(hash, 'base64'));
}

/** Of the password and its user, as the digests of ZooKeeper are. */
function hashOf(text: string, salt: Uint8Array, { ln, r, p }: Parameters): Promise<Buffer> {
  return derive(text, salt, HASH_BYTES, { N: 2 ** ln, r, p, maxmem: MEMORY_BYTES_MAX });
}

function userOf(text: string): string {
  const colon = text.indexOf(':');
  return colon < 0 ? text : text.slice(0, colon);
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '');
}
