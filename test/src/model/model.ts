/**
 * The reference model of one sequence: sessions, their connections, and what each must receive.
 *
 * `execute` runs one operation and appends to the streams, per session, what must arrive: events of
 * a change before its own reply. It is written from the protocol's description, not from the
 * server's code, and with simple means. It knows nothing of members: that is the point.
 */
import { ErrorCode, EventType, Perms } from '@rookery/protocol';
import { allows, type Identity, identitiesOf, OWN_ADDRESS } from './access.js';
import type { Dialect } from './dialect.js';
import { meantInMulti, multiFailure, multiResult } from './multi.js';
import { type MultiOp, type Operation, placePath, type SetWatchesOp } from './operations.js';
import { runRead } from './reads.js';
import { type Asker, ModelTree, Refusal, type Znode } from './tree.js';
import { type TellWatcher, Watches } from './watches.js';

/** Operations that become a transaction, whichever client sends them. */
const WRITES: ReadonlySet<Operation['op']> = new Set([
  ...(['create', 'create2', 'createContainer', 'createTtl'] as const),
  ...(['delete', 'setData', 'setAcl', 'multi'] as const),
]);

export interface ExpectedReply {
  readonly kind: 'reply';
  readonly operation: Operation;
  readonly error: number;
  /** Undefined where no body follows. */
  readonly body: unknown;
  /** The transaction that a write has become, failed or not. */
  readonly txn: number | undefined;
  /** The last transaction before it. */
  readonly after: number;
}

export interface ExpectedEvent {
  readonly kind: 'event';
  readonly type: EventType;
  readonly path: string;
  /** The zxid of the change; undefined for what setWatches reports. */
  readonly txn: number | undefined;
  /** The events of the end of a session have no defined order. */
  readonly unordered: boolean;
}

export type Expected = ExpectedReply | ExpectedEvent;

export interface ModelSession {
  readonly number: number;
  /** A new number for each connection, to which watches and ids belong; 0 while there is none. */
  connection: number;
  ids: Identity[];
  /** The last transaction that this session's client knows of. */
  seen: number;
  readonly expected: Expected[];
}

export interface ModelOptions {
  readonly prefix: string;
  readonly dialect: Dialect;
  /** The index of the member that leads, from 0. */
  readonly leader: number;
  /** Whether sessions are known to their member alone. */
  readonly localSessions: boolean;
  /** For members without a quorum: the existing tree, which nobody changes any more. */
  readonly remains?: Remains;
}

/** A tree and the number of transactions that created it. */
export interface Remains {
  readonly tree: ModelTree;
  readonly lastTxn: number;
}

export class Model {
  readonly dialect: Dialect;
  readonly watches: Watches;
  readonly tree: ModelTree;
  readonly #isReadOnly: boolean;
  readonly #prefix: string;
  readonly #leader: number;
  readonly #localSessions: boolean;
  readonly #sessions: ModelSession[] = [];
  #connections = 0;
  #txn: number;
  /** Set while events are delivered one by one. */
  #unordered = false;

  constructor({ prefix, dialect, leader, localSessions, remains }: ModelOptions) {
    this.#isReadOnly = remains !== undefined;
    this.tree = remains?.tree.copy() ?? new ModelTree();
    this.#txn = remains?.lastTxn ?? 0;
    this.#leader = leader;
    this.#prefix = prefix;
    this.#localSessions = localSessions;
    this.dialect = dialect;
    this.watches = new Watches(dialect);
  }

  /** The codes of all answers, including those to operations of a multi. */
  get codes(): readonly number[] {
    return this.#sessions.flatMap(({ expected }) => expected.flatMap(codesOf));
  }

  /** The number of transactions so far. */
  get lastTxn(): number {
    return this.#txn;
  }

  openSession(member: number): ModelSession {
    const number = this.#sessions.length + 1;
    const seen = this.#isReadOnly ? this.#txn : 0;
    const session = { number, connection: 0, ids: [], seen, expected: [] };
    this.#sessions.push(session);
    this.connect(session, member);
    return session;
  }

  connect(session: ModelSession, member: number): void {
    this.#connections += 1;
    session.connection = this.#connections;
    session.ids = [OWN_ADDRESS];
    this.watches.connected(session.connection, member);
  }

  disconnect(session: ModelSession): void {
    this.watches.dropConnection(session.connection);
    session.connection = 0;
  }

  /** What a client sends first on its next connection, to have the watches that it has now. */
  watchesAgain({ connection }: ModelSession): SetWatchesOp {
    const of = (kind: 'data' | 'child', mode: 'once' | 'persistent' | 'recursive') =>
      this.watches.of(connection, kind, mode).map((path) => `!${path}`);
    const isThere = (path: string) => this.tree.find(path.slice(1)) !== undefined;
    const data = of('data', 'once');
    return {
      op: 'setWatches2',
      writesBack: 0,
      data: data.filter(isThere),
      exist: data.filter((path) => !isThere(path)),
      child: of('child', 'once'),
      persistent: of('data', 'persistent'),
      recursive: of('data', 'recursive'),
    };
  }

  place(path: string): string {
    return placePath(this.#prefix, path);
  }

  execute(session: ModelSession, operation: Operation): void {
    const after = this.#txn;
    const { txn, error, body } = this.#answer(session, operation);
    session.expected.push({ kind: 'reply', operation, txn, after, error, body });
    if (operation.op === 'closeSession') this.disconnect(session);
  }

  #answer(session: ModelSession, operation: Operation) {
    if (this.#isReadOnly && isRefusedReadOnly(operation)) {
      return { txn: undefined, error: ErrorCode.notReadOnly, body: undefined };
    }
    const txn = this.isWrite(operation) ? this.#nextTxn() : undefined;
    try {
      const body = this.#run(session, operation, txn ?? 0);
      return { txn, error: ErrorCode.ok, body };
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      return { txn, error: refusal.code, body: undefined };
    }
  }

  #run(session: ModelSession, operation: Operation, txn: number): unknown {
    const { ids, number } = session;
    const ephemeralRefusal = this.#ephemeralRefusal(session, operation);
    const asker: Asker = { txn, session: number, ids, ephemeralRefusal, applied: this.tree };
    switch (operation.op) {
      case 'create':
      case 'create2':
      case 'createContainer':
      case 'createTtl':
      case 'delete':
      case 'setData':
      case 'check':
        return this.#change(operation, asker);
      case 'setAcl': {
        const node = this.tree.setAcl(operation, this.place(operation.path), asker);
        return { stat: this.tree.statOf(node) };
      }
      case 'multi':
        return { results: this.#multi(operation.ops, { ...asker, applied: this.tree.copy() }) };
      case 'closeSession':
        this.#closeSession(session, txn);
        return undefined;
      case 'auth':
        for (const shown of identitiesOf(operation.user)) {
          const isKnown = session.ids.some(
            (id) => id.scheme === shown.scheme && id.id === shown.id,
          );
          if (!isKnown) session.ids.push(shown);
        }
        return undefined;
      case 'setWatches':
      case 'setWatches2':
        this.#setWatches(session, operation);
        return undefined;
      default:
        return runRead(this, session, operation);
    }
  }

  #ephemeralRefusal({ connection }: ModelSession, operation: Operation): number | undefined {
    if (!this.#localSessions) return undefined;
    const isAtLeader = this.watches.memberOf(connection) === this.#leader;
    const isExpired = operation.op === 'multi' && !isAtLeader && !this.dialect.localEphemeralsAlike;
    return isExpired ? ErrorCode.sessionExpired : ErrorCode.ephemeralOnLocalSession;
  }

  #multi(ops: readonly MultiOp[], asker: Asker): readonly unknown[] {
    const place = (path: string) => this.place(path);
    const failure = multiFailure(this.tree.copy(), ops, { asker, place });
    if (failure !== undefined) return failure;
    return ops.map(meantInMulti).map((op) => multiResult(op, this.#change(op, asker)));
  }

  /** A write to one znode, and its events. */
  #change(op: MultiOp, asker: Asker): unknown {
    const path = this.place(op.path);
    switch (op.op) {
      case 'delete': {
        const acls = this.#aclOf(path);
        this.tree.delete(op, path, asker);
        this.watches.deleted(path, this.#teller(asker.txn, acls));
        return undefined;
      }
      case 'setData': {
        const node = this.tree.setData(op, path, asker);
        this.watches.changed(path, this.#teller(asker.txn));
        return { stat: this.tree.statOf(node) };
      }
      case 'check':
        this.tree.check(op, path, asker);
        return undefined;
      default: {
        const made = this.tree.create(op, path, asker);
        this.watches.created(made, this.#teller(asker.txn));
        if (op.op === 'create') return { path: made };
        return { path: made, stat: this.#statAt(made) };
      }
    }
  }

  #closeSession(session: ModelSession, txn: number): void {
    this.#unordered = true;
    for (const path of this.tree.ephemeralsOf(session.number)) {
      const acls = this.#aclOf(path);
      this.tree.remove(path, txn);
      this.watches.deleted(path, this.#teller(txn, acls));
    }
    this.#unordered = false;
  }

  #setWatches(session: ModelSession, operation: SetWatchesOp): void {
    const since = Math.max(0, session.seen - operation.writesBack);
    const { connection } = session;
    const tell = (type: EventType, at: string) => this.#tell(session, { type, path: at });
    for (const path of operation.data.map((at) => this.place(at))) {
      const node = this.tree.find(path);
      if (node === undefined) tell(EventType.deleted, path);
      else if (node.modified > since && this.#mayCatchUp(session, node)) {
        tell(EventType.dataChanged, path);
      } else this.watches.addOnce('data', path, connection);
    }
    for (const path of operation.exist.map((at) => this.place(at))) {
      const node = this.tree.find(path);
      if (node !== undefined && this.#mayCatchUp(session, node)) tell(EventType.created, path);
      else this.watches.addOnce('data', path, connection);
    }
    for (const path of operation.child.map((at) => this.place(at))) {
      const node = this.tree.find(path);
      if (node === undefined) tell(EventType.deleted, path);
      else if (node.childrenModified > since && this.#mayCatchUp(session, node)) {
        tell(EventType.childrenChanged, path);
      } else this.watches.addOnce('child', path, connection);
    }
    if (operation.op === 'setWatches') return;
    for (const path of operation.persistent) {
      this.watches.addLasting('persistent', this.place(path), connection);
    }
    for (const path of operation.recursive) {
      this.watches.addLasting('recursive', this.place(path), connection);
    }
  }

  /**
   * Delivers the events of a change to every client that may read the znode, by its ACL now or as
   * it was before.
   */
  #teller(txn: number, acls?: ReadonlyMap<string, Znode['acl']>): TellWatcher {
    return (connection, type, path) => {
      const session = this.#sessions.find((each) => each.connection === connection);
      if (session === undefined) throw new Error(`nobody has connection ${connection}`);
      const acl = acls?.get(path) ?? this.tree.find(path)?.acl;
      if (acl !== undefined && !this.#mayHear(session, acl)) return false;
      this.#tell(session, { type, path, txn });
      return true;
    };
  }

  #mayCatchUp(session: ModelSession, { acl }: Znode): boolean {
    return !this.dialect.hiddenWatchesStay || this.#mayHear(session, acl);
  }

  #mayHear(session: ModelSession, acl: Znode['acl']): boolean {
    return allows(acl, session.ids, Perms.read);
  }

  #tell(session: ModelSession, event: { type: EventType; path: string; txn?: number }): void {
    const { type, path, txn } = event;
    session.expected.push({ kind: 'event', type, path, txn, unordered: this.#unordered });
  }

  #aclOf(path: string): ReadonlyMap<string, Znode['acl']> {
    const node = this.tree.find(path);
    return new Map(node === undefined ? [] : [[path, node.acl]]);
  }

  #statAt(path: string) {
    const node = this.tree.find(path);
    if (node === undefined) throw new Error(`${path} was just created`);
    return this.tree.statOf(node);
  }

  #nextTxn(): number {
    this.#txn += 1;
    return this.#txn;
  }

  isWrite({ op }: Operation): boolean {
    if (op === 'closeSession') return !this.#localSessions && !this.#isReadOnly;
    return WRITES.has(op);
  }
}

/** Operations that could change something, or that need a quorum. */
function isRefusedReadOnly({ op }: Operation): boolean {
  return WRITES.has(op) || op === 'sync';
}

function codesOf(item: Expected): number[] {
  if (item.kind === 'event') return [];
  if (item.operation.op !== 'multi' || item.error !== ErrorCode.ok) return [item.error];
  const { results } = { results: [], ...(item.body ?? {}) };
  return results.map((result: object) => ('error' in result ? Number(result.error) : 0));
}
