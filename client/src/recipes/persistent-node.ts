/**
 * PersistentNode: a znode that is created again whenever it is missing. As long as the object is
 * open and the client is connected, the znode exists: it is created again when it is deleted, when
 * the session is lost, and after a reconnect.
 *
 * **Guarantee.** The znode gets the data that was set last, even if it was set without a
 * connection. Data that others write remains until the next setData(). An ephemeral znode at the
 * path that belongs to another session, such as this client's previous one, is never touched; ours
 * is created as soon as it is gone. While another znode is there, an ephemeral one of ours waits,
 * and the client's log says so once for each such znode (`node.occupied`). It does not for this
 * object's own znode of a former session, unless both the reply of its create and that session were
 * lost: then nothing shows whose it is. After close() no znode of ours remains, unless
 * `deleteOnClose` is false.
 *
 * **Znodes.** `<path>`, in the requested mode. With 'ephemeralSequential' it is
 * `_c_<uuid>-<name><number>` in the same directory, Curator's protected name, which later
 * incarnations keep. Its parents are created as containers.
 *
 * **Suspended.** The znode remains, and changes wait. **Lost.** An ephemeral znode is gone or about
 * to go; it is created again in the client's next session. If the server refuses (NoAuthError), the
 * recipe ends: `onFailure` and `failure` report it, and every wait rejects with it.
 */
import {
  joinPath,
  NodeExistsError,
  NoNodeError,
  nameOf,
  parentOf,
  SessionExpiredError,
} from '@rookery/protocol';
import type { Client } from '../api/client.js';
import { ClientClosedError } from '../api/errors.js';
import { sessionText } from '../api/session-text.js';
import type { Acl, Data, Node, Session, Stat } from '../api/values.js';
import { ambiguously } from './shared/ambiguous.js';
import { ignoreIfDisconnected } from './shared/background.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { inContainer } from './shared/container-parent.js';
import { createContender } from './shared/contender.js';
import { curatorPrefix } from './shared/curator.js';
import { WaitTimeoutError } from './shared/errors.js';
import { bounds, persist, untilOver, type Within } from './shared/persist.js';
import { removeOwn } from './shared/remove-own.js';
import { inEachSession, Runner } from './shared/runner.js';
import { lookAt } from './shared/sight.js';
import { unlessAborted, type WaitOptions } from './shared/wait-scope.js';
import { inSession } from './shared/waiting.js';

export type PersistentNodeMode = 'ephemeral' | 'ephemeralSequential' | 'persistent' | 'container';

export interface PersistentNodeOptions {
  /** 'ephemeral' by default. */
  readonly mode?: PersistentNodeMode | undefined;
  readonly data?: Data | undefined;
  readonly acl?: readonly Acl[] | undefined;
  /**
   * Whether close() deletes the znode, the default, or keeps it. An ephemeral znode is always
   * deleted.
   */
  readonly deleteOnClose?: boolean | undefined;
}

export class PersistentNode extends BackgroundRecipe implements AsyncDisposable {
  readonly #client: Client;
  readonly #options: PersistentNodeOptions;
  readonly #isEphemeral: boolean;
  readonly #runner: Runner;
  /** Work in the background has no time limit. */
  readonly #timeoutError = () => new WaitTimeoutError(this.#path, 0);
  #path: string;
  #isNamed: boolean;
  #data: Data;
  /** How often data was set, and which of these settings the incarnation `#czxid` already has. */
  #wishes = 0;
  #written = -1;
  #czxid: bigint | null = null;
  #isStanding = false;
  /** The czxid of the last znode at the path that was logged as another's. */
  #occupant: bigint | null = null;
  #session: Session | null = null;
  #closed: Promise<void> | null = null;

  constructor(client: Client, path: string, options: PersistentNodeOptions = {}) {
    super();
    const { mode = 'ephemeral', data = null } = options;
    this.#client = client;
    this.#path = path;
    this.#options = options;
    this.#data = data;
    this.#isEphemeral = mode === 'ephemeral' || mode === 'ephemeralSequential';
    this.#isNamed = mode !== 'ephemeralSequential';
    const keep = inEachSession(client, path, (within) => this.#keep(within));
    const task = (signal: AbortSignal) => keep(signal).finally(() => this.#standing(false));
    this.#runner = new Runner({ client, recipe: 'PersistentNode', path, task });
  }

  /** As given, but in a sequential mode the path of the znode once it is created. */
  get path(): string {
    return this.#path;
  }

  /** The data that was set last. */
  get data(): Data {
    return this.#data;
  }

  /**
   * Whether the znode existed when it was last read, and nothing was reported since. An ephemeral
   * one no longer counts when the client reports that its session is lost.
   */
  get isStanding(): boolean {
    const isOver = this.#isEphemeral && this.#session?.signal.aborted === true;
    return this.#isStanding && !isOver;
  }

  /** Creates and keeps the znode from now on, in the background. Calling it again has no effect. */
  start(): void {
    this.#runner.start();
  }

  /**
   * Starts if necessary, waits until the znode exists and resolves with its path. WaitTimeoutError
   * and OperationAbortedError end only the wait.
   */
  async whenStanding(options: WaitOptions = {}): Promise<string> {
    this.start();
    return await this.#runner.until(options, () => (this.isStanding ? this.#path : null));
  }

  /**
   * Resolves when the znode has the data. If the wait ends earlier, the data is still written
   * later, and the error is `ambiguous`.
   */
  async setData(data: Data, options: WaitOptions = {}): Promise<void> {
    this.start();
    this.#data = data;
    const wish = ++this.#wishes;
    this.#runner.changes.notify();
    await ambiguously(
      () => true,
      () => this.#runner.until(options, () => (this.#written >= wish ? true : null)),
    );
  }

  /**
   * Stops keeping the znode and, unless `deleteOnClose` is false, deletes it, in the background if
   * there is no connection. Calling it again has no effect. Rejects only if the server refuses the
   * deletion.
   */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await this.#runner.stop();
    this.#isStanding = false;
    const session = this.#session;
    if (session === null || !this.#isNamed) return;
    if (!this.#isEphemeral && this.#options.deleteOnClose === false) return;
    await ignoreIfDisconnected(this.#client, this.#remove(session));
  }

  async #remove(session: Session): Promise<void> {
    const owned = { path: this.#path, isEphemeral: this.#isEphemeral };
    if (!this.#isEphemeral) {
      const wait = { timeoutError: this.#timeoutError, onSessionLost: 'rejoin' } as const;
      await inSession(this.#client, wait, (within) => removeOwn(this.#client, owned, within));
      return;
    }
    try {
      await removeOwn(this.#client, owned, untilOver(session));
    } catch (error) {
      const isGone = error instanceof SessionExpiredError || error instanceof ClientClosedError;
      if (!isGone) throw error;
    }
  }

  protected override get supervised(): Supervised {
    return this.#runner;
  }

  /** A loop that reads, repairs, and waits for a change of the znode or of the desired data. */
  async #keep(within: Within): Promise<never> {
    this.#session = within.session;
    try {
      if (!this.#isNamed) await this.#createNamed(within);
      for (;;) {
        const next = this.#runner.changes.next();
        try {
          await this.#mendAndWait(next.happens, within);
        } finally {
          next.forget();
        }
      }
    } finally {
      if (this.#isEphemeral) this.#standing(false);
    }
  }

  async #mendAndWait(wished: Promise<void>, within: Within): Promise<void> {
    const sight = await lookAt(this.#client, this.#path, within);
    try {
      await this.#mend(sight.seen, within);
      await unlessAborted(Promise.race([sight.changed, wished]), within.signal);
    } finally {
      sight.forget();
    }
  }

  /** Whatever is done here changes the znode, which leads to another read. */
  async #mend(node: Node | null, within: Within): Promise<void> {
    if (node === null) {
      this.#standing(false);
      await this.#create(within);
      return;
    }
    if (this.#isEphemeral && node.stat.ephemeralOwner !== within.session.id) {
      this.#standing(false);
      this.#tellOccupied(node.stat);
      return;
    }
    if (node.stat.czxid !== this.#czxid) this.#written = -1;
    this.#czxid = node.stat.czxid;
    if (this.#written < this.#wishes) await this.#write(within);
    else this.#standing(true);
  }

  /** A znode that this object knows as its own is not logged: it ends with its session. */
  #tellOccupied({ czxid, ephemeralOwner }: Stat): void {
    if (czxid === this.#czxid || czxid === this.#occupant) return;
    this.#occupant = czxid;
    const path = this.#path;
    const owner = ephemeralOwner === 0n ? null : sessionText(ephemeralOwner);
    const what = owner === null ? 'is not ephemeral' : `belongs to session ${owner}`;
    const message = `the znode at ${path} ${what}; this client's znode waits until it is gone`;
    this.#client.log.warn('node.occupied', message, { path, ...(owner !== null && { owner }) });
  }

  async #create(within: Within): Promise<void> {
    const { acl, mode = 'ephemeral' } = this.#options;
    const parents = { ...bounds(within), acl };
    const given = acl === undefined ? bounds(within) : { ...bounds(within), acl };
    const wish = this.#wishes;
    const plain = mode === 'ephemeralSequential' ? 'ephemeral' : mode;
    try {
      const { stat } = await persist(this.#client, within, () =>
        inContainer(this.#client, parentOf(this.#path), parents, () =>
          this.#client.create(this.#path, this.#data, { ...given, mode: plain }),
        ),
      );
      this.#made(stat, wish);
    } catch (error) {
      // It may be ours, if a reply was lost, or another client's; the next read will tell.
      if (!(error instanceof NodeExistsError)) throw error;
    }
  }

  async #createNamed(within: Within): Promise<void> {
    const prefix = curatorPrefix(this.#client.surroundings.uuid(), nameOf(this.#path));
    const parent = parentOf(this.#path);
    const { acl } = this.#options;
    const wish = this.#wishes;
    const plan = { parent, prefix, data: this.#data, acl };
    const { name, czxid } = await createContender(this.#client, plan, within);
    this.#path = joinPath(parent, name);
    this.#isNamed = true;
    this.#czxid = czxid;
    this.#written = wish;
  }

  async #write(within: Within): Promise<void> {
    const wish = this.#wishes;
    try {
      const stat = await persist(this.#client, within, () =>
        this.#client.setData(this.#path, this.#data, bounds(within)),
      );
      this.#made(stat, wish);
    } catch (error) {
      if (!(error instanceof NoNodeError)) throw error;
    }
  }

  #made(stat: Stat, wish: number): void {
    this.#czxid = stat.czxid;
    this.#written = wish;
    this.#runner.changes.notify();
  }

  #standing(isStanding: boolean): void {
    if (this.#isStanding === isStanding) return;
    this.#isStanding = isStanding;
    this.#runner.changes.notify();
  }
}
