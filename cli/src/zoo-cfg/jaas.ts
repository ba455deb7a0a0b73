/**
 * Reads a JAAS file, as ZooKeeper's servers have one for SASL (sections with a login module each,
 * and the module's options), and reports what became of its users.
 *
 *     Server { org.example.Module required user_name="password"; };
 *
 * Pure. Throws JaasError, which names the line and never a value: values are passwords.
 */
import { createHash } from 'node:crypto';
import type { KeyReport } from './convert.js';

export interface JaasSection {
  readonly name: string;
  readonly modules: readonly JaasModule[];
}

interface JaasModule {
  /** The class, with its package. */
  readonly name: string;
  readonly options: ReadonlyMap<string, string>;
}

export class JaasError extends Error {
  override readonly name = 'JaasError';
}

const FLAGS = new Set(['required', 'requisite', 'sufficient', 'optional']);
const TOKEN =
  /\s+|\/\/[^\n]*|\/\*(?:.|\n)*?\*\/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{};=]|[^\s{};="']+/gy;

interface Token {
  readonly text: string;
  readonly isQuoted: boolean;
  readonly line: number;
}

export function readJaas(text: string): readonly JaasSection[] {
  const tokens = new Tokens(tokensOf(text));
  const sections: JaasSection[] = [];
  while (!tokens.isAtEnd) {
    const name = tokens.word('the name of a section');
    tokens.expect('{');
    const modules: JaasModule[] = [];
    while (!tokens.skip('}')) modules.push(readModule(tokens));
    tokens.expect(';');
    sections.push({ name, modules });
  }
  return sections;
}

/** The users of ZooKeeper's module for DIGEST-MD5, with their passwords. */
function digestUsersOf({ name, options }: JaasModule): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  if (!name.endsWith('.DigestLoginModule')) return users;
  for (const [option, value] of options) {
    if (option.startsWith('user_')) users.set(option.slice('user_'.length), value);
  }
  return users;
}

function readModule(tokens: Tokens): JaasModule {
  const name = tokens.word('a login module');
  const flag = tokens.word('a flag');
  if (!FLAGS.has(flag.toLowerCase())) throw tokens.error('expected required or another flag');
  const options = new Map<string, string>();
  while (!tokens.skip(';')) {
    const option = tokens.word('an option');
    tokens.expect('=');
    options.set(option, tokens.value());
  }
  return { name, options };
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let end = 0;
  for (const [part] of text.matchAll(TOKEN)) {
    const isQuoted = part.startsWith('"') || part.startsWith("'");
    const isSpace = /^\s|^\/[/*]/.test(part);
    if (!isSpace) {
      const unescaped = isQuoted ? part.slice(1, -1).replace(/\\(.)/gs, '$1') : part;
      tokens.push({ text: unescaped, isQuoted, line });
    }
    line += part.split('\n').length - 1;
    end += part.length;
  }
  if (end < text.length) throw new JaasError(`line ${line}: a quoted text does not end`);
  return tokens;
}

class Tokens {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  word(what: string): string {
    const token = this.#tokens[this.#at];
    if (token === undefined || (!token.isQuoted && /^[{};=]$/.test(token.text))) {
      throw this.error(`expected ${what}`);
    }
    this.#at += 1;
    return token.text;
  }

  value(): string {
    return this.word('a value');
  }

  skip(mark: string): boolean {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw this.error(`expected ${mark}`);
    if (token.isQuoted || token.text !== mark) return false;
    this.#at += 1;
    return true;
  }

  expect(mark: string): void {
    if (this.isAtEnd || !this.skip(mark)) throw this.error(`expected ${mark}`);
  }

  error(message: string): JaasError {
    const line = this.#tokens[Math.min(this.#at, this.#tokens.length - 1)]?.line ?? 1;
    return new JaasError(`line ${line}: ${message}`);
  }
}

/**
 * The result of converting a JAAS file. DIGEST-MD5 users go into a users' file; every other login
 * is refused by name. No password is ever printed.
 */
export interface TakenUsers {
  readonly report: readonly KeyReport[];
  /** The lines of the users' file; '' if there is no user, or no file for them. */
  readonly users: string;
  /** Settings to add to the config in addition to `sasl`. */
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

/** The server's form of a password, which is as good as the password: keep it secret. */
function digestOf(user: string, password: string): string {
  return createHash('md5').update(`${user}:${REALM}:${password}`).digest('hex');
}
