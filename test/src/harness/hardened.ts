/**
 * A hardened ensemble, as SECURITY.md describes it, and what a stranger must not learn of it.
 *
 * Members prove to each other that they know a secret, the admin port has a user, the four-letter
 * words are the default ones of an ensemble that other machines reach, and the whole tree belongs
 * to one identity. `keptSecret` fails when an answer shows a password, a hash of one, the secret of
 * the members, or data or a name below the vault. `toldNothing` fails also when it shows the
 * ensemble's id or the vault's path.
 */
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AuthPacket,
  CreateRequest,
  ErrorCode,
  OpCode,
  PathRequest,
  Perms,
  SetAclRequest,
} from '@rookery/protocol';
import { expect } from 'vitest';
import { FOUR_LETTER_WORDS, isForStrangers } from '../../../server/src/config/four-letter-words.js';
import { type Ensemble, useEnsemble } from './ensemble.js';
import type { Member } from './member.js';
import { getChildren, getData, OperationError } from './operations.js';
import { useClient } from './use-client.js';
import { until } from './wait.js';
import type { WireClient } from './wire-client.js';

const DEADLINE_MS = 60_000;
const VAULT = '/vault';
const DATA = 'the-data-of-the-vault';
const CHILD = 'the-child-of-the-vault';
const OWNER = 'owner:the-password-of-the-owner';
const SUPER = 'super:the-password-of-the-super-user';

export const ADMIN = 'ops:the-password-of-the-admin-port';

function digestOf(user: string): string {
  return `${user.split(':')[0]}:${createHash('sha1').update(user).digest('base64')}`;
}

export class Hardened {
  readonly ensemble: Ensemble;
  readonly #owner: WireClient;
  readonly #secrets: readonly string[];

  private constructor(ensemble: Ensemble, owner: WireClient, peerSecret: string) {
    this.ensemble = ensemble;
    this.#owner = owner;
    const hashes = [digestOf(OWNER), digestOf(ADMIN), digestOf(SUPER)].map(
      (digest) => digest.split(':')[1] ?? '',
    );
    this.#secrets = [peerSecret, ...hashes, DATA, CHILD, 'the-password-of'];
  }

  /** `settings` differ from those of a hardened ensemble; `secure`: with ports for TLS alone. */
  static async start(
    settings: Readonly<Record<string, unknown>> = {},
    { secure = false }: { readonly secure?: boolean } = {},
  ): Promise<Hardened> {
    const ensemble = await useEnsemble({
      operated: true,
      secure,
      settings: {
        peerAuth: { secretFile: 'peer.secret' },
        fourLetterWords: FOUR_LETTER_WORDS.filter(isForStrangers).join(','),
        adminUsers: [digestOf(ADMIN)],
        superDigest: digestOf(SUPER),
        ...settings,
      },
    });
    const secret = randomBytes(32).toString('base64');
    writeFileSync(join(ensemble.directory, 'peer.secret'), secret, { mode: 0o600 });
    ensemble.start();
    await ensemble.serving();
    const owner = await useClient(await ensemble.leader());
    await authenticate(owner, SUPER);
    await authenticate(owner, OWNER);
    const acl = [{ perms: Perms.all, scheme: 'digest', id: digestOf(OWNER) }];
    for (const path of [VAULT, `${VAULT}/${CHILD}`]) {
      const request = { path, data: Buffer.from(DATA), acl, flags: 0 };
      await answered(owner.request(OpCode.create, CreateRequest, request));
    }
    await answered(owner.request(OpCode.setAcl, SetAclRequest, { path: '/', acl, version: -1 }));
    return new Hardened(ensemble, owner, secret);
  }

  /** Everything that a stranger could have changed, as text. */
  async fingerprint(): Promise<string> {
    const parts: unknown[] = [];
    for (const path of ['/', VAULT, `${VAULT}/${CHILD}`]) {
      const { data, stat } = await getData(this.#owner, path);
      const acl = await answered(this.#owner.request(OpCode.getAcl, PathRequest, { path }));
      parts.push([path, data, stat.version, stat.mzxid, stat.aversion, stat.cversion]);
      parts.push(Buffer.from(acl.body).toString('hex'), await getChildren(this.#owner, path));
    }
    return JSON.stringify(parts);
  }

  /** The owner changes the tree: a stranger that watches it must hear nothing. */
  async change(): Promise<void> {
    const acl = [{ perms: Perms.all, scheme: 'digest', id: digestOf(OWNER) }];
    const path = `${VAULT}/${CHILD}/${randomBytes(4).toString('hex')}`;
    const request = { path, data: Buffer.from(DATA), acl, flags: 0 };
    await answered(this.#owner.request(OpCode.create, CreateRequest, request));
  }

  /** The leader and its epoch. */
  async leadership(): Promise<string> {
    const leader = await this.ensemble.leader();
    const status = await until('the leader tells its state', DEADLINE_MS, () => leader.status());
    return `${leader.id} in epoch ${BigInt(status.zxid) >> 32n}`;
  }

  /** Fails when the answer shows a secret, or data or a name below the vault. */
  keptSecret(what: string, answer: Uint8Array | string): void {
    const text = typeof answer === 'string' ? answer : Buffer.from(answer).toString('latin1');
    for (const secret of this.#secrets) expect(text, what).not.toContain(secret);
  }

  /** Fails also when the answer shows the ensemble's id or the path of the vault. */
  toldNothing(what: string, answer: Uint8Array | string): void {
    this.keptSecret(what, answer);
    const text = typeof answer === 'string' ? answer : Buffer.from(answer).toString('latin1');
    for (const word of [this.#ensembleId, VAULT]) expect(text, what).not.toContain(word);
  }

  get #ensembleId(): string {
    for (const member of this.ensemble.members) {
      const [, id] = /"ensemble(?:Id)?":"([^"]+)"/.exec(member.log()) ?? [];
      if (id !== undefined) return id;
    }
    return 'an id that no log has told';
  }

  logMarks(): ReadonlyMap<Member, number> {
    return new Map(this.ensemble.members.map((member) => [member, member.logMark()]));
  }

  /** No member has changed its role, ended, or lost a link to another since then. */
  staysAsItWas(marks: ReadonlyMap<Member, number>): void {
    for (const [member, mark] of marks) {
      expect(member.running).toBe(true);
      const lines = member.linesSince(mark).join('\n');
      for (const event of ['role.', 'election.', 'peer.connected', 'peer.disconnected']) {
        expect(lines).not.toContain(`"msg":"${event}`);
      }
      this.keptSecret(`the log of member ${member.id}`, lines);
    }
  }
}

async function authenticate(client: WireClient, user: string): Promise<void> {
  const packet = { type: 0, scheme: 'digest', auth: Buffer.from(user) };
  await answered(client.request(OpCode.auth, AuthPacket, packet));
}

async function answered(asked: ReturnType<WireClient['request']>) {
  const reply = await asked;
  if (reply.error !== ErrorCode.ok) throw new OperationError(reply.error, 'the owner');
  return reply;
}
