/**
 * What becomes of a JAAS file: users of DIGEST-MD5 are taken into a users' file, and every other
 * login is refused by name. No password is ever printed.
 */
import { createHash } from 'node:crypto';
import type { KeyReport } from './convert.js';
import { digestUsersOf, type JaasModule, type JaasSection } from './jaas.js';

export interface TakenUsers {
  readonly report: readonly KeyReport[];
  /** The lines of the users' file; '' if there is no user, or no file for them. */
  readonly users: string;
  /** What the config gets beside `sasl`. */
  readonly settings: Readonly<Record<string, unknown>>;
}

const MEMBERS = new Set(['quorumserver', 'quorumlearner']);
/** Passes every ACL in ZooKeeper. */
const SUPER = 'super';
const REALM = 'zk-sasl-md5';
const USER = /^[^\s:@/"\\]{1,256}$/;
const PRINTABLE = /^[\x20-\x7e]+$/;

/** `hasFile` says whether the caller has named a file for the users. */
export function takeJaas(sections: readonly JaasSection[], hasFile: boolean): TakenUsers {
  const report: KeyReport[] = [];
  const lines = new Map<string, string>();
  for (const { name, modules } of sections) {
    for (const module of modules) report.push(...takeModule(name, module, { hasFile, lines }));
  }
  const settings = lines.has(SUPER) ? { superIdentities: [`sasl:${SUPER}`] } : {};
  return { report, users: [...lines.values()].join(''), settings };
}

function takeModule(
  section: string,
  module: JaasModule,
  { hasFile, lines }: { readonly hasFile: boolean; readonly lines: Map<string, string> },
): readonly KeyReport[] {
  const of = (key: string, outcome: KeyReport['outcome'], text: string): KeyReport => ({
    key: `${section} in the JAAS file${key}`,
    outcome,
    text,
  });
  const lower = section.toLowerCase();
  if (lower === 'client') return [of('', 'no effect', 'it is for clients, which keep it')];
  if (MEMBERS.has(lower)) {
    return [of('', 'no effect', 'it is for members, which authenticate by peerAuth')];
  }
  const users = [...digestUsersOf(module)];
  if (users.length === 0) {
    return [of('', 'refused', `nothing replaces ${module.name}: SASL supports only DIGEST-MD5`)];
  }
  return users.map(([user, password]) => {
    const key = `, user ${JSON.stringify(user)}`;
    if (!USER.test(user) || !PRINTABLE.test(user + password)) {
      return of(key, 'refused', 'the name or the password has characters that no user may have');
    }
    if (!hasFile) return of(key, 'refused', 'name a new file for the users with --users');
    lines.set(user, `${user}:${REALM}:${digestOf(user, password)}\n`);
    const more = user === SUPER ? ', and superIdentities' : '';
    return of(key, 'taken', `a line of sasl.usersFile${more}`);
  });
}

/** What the server keeps of a password: it is as good as the password to whoever reads it. */
function digestOf(user: string, password: string): string {
  return createHash('md5').update(`${user}:${REALM}:${password}`).digest('hex');
}
