/**
 * Party and ShallowParty, as in kazoo: a group whose members' names need not be unique. The shallow
 * party stores the identifiers in the znodes' names, so that one request lists all.
 *
 * **Guarantee.** A participant that has joined takes part while its client has its session, is back
 * in the next one, and is removed by leave() or with the session. Followers have the guarantee of
 * Group.
 *
 * **Znodes.** `<path>` (a container). Party: `<path>/<uuid>__party__`, ephemeral, whose data is the
 * identifier. ShallowParty: `<path>/<uuid>-<identifier>`, ephemeral. The uuid has no dashes. To
 * follow needs ZooKeeper 3.6 or Rookery.
 *
 * **Suspended, lost.** The same as for GroupMember.
 */
import { joinPath } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl, Data, OperationOptions } from '../api/values.js';
import { PersistentNode } from './persistent-node.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { RecipeStateError } from './shared/errors.js';
import { Failures } from './shared/failures.js';
import { type ChildrenByName, followChildren, readChildren } from './shared/follow-children.js';
import { checkName } from './shared/name-check.js';
import type { WaitOptions } from './shared/wait-scope.js';

export interface PartyOptions {
  /**
   * Identifies this participant; empty by default. In a shallow party it is part of the znode's
   * name.
   */
  readonly identifier?: string | undefined;
  readonly acl?: readonly Acl[] | undefined;
}

const PARTY_NAME = '__party__';

/** The common part of both classes. */
abstract class AnyParty extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly identifier: string;
  readonly #client: Client;
  readonly #acl: readonly Acl[] | undefined;
  readonly #uuid: string;
  readonly #failures: Failures;
  #node: PersistentNode | null = null;
  /** The node whose failure is reported, because no call of join() waits for it any more. */
  #joined: PersistentNode | null = null;

  constructor(client: Client, path: string, options: PartyOptions = {}) {
    super();
    this.path = path;
    this.#failures = new Failures({ recipe: new.target.name, path, log: client.log });
    this.identifier = options.identifier ?? '';
    this.#client = client;
    this.#acl = options.acl;
    this.#uuid = client.surroundings.uuid().replaceAll('-', '');
  }

  protected abstract readonly withData: boolean;
  protected abstract nodeOf(uuid: string): { readonly name: string; readonly data: Data };
  /** Null if the znode is not that of a participant. */
  protected abstract identifierOf(name: string, data: Buffer | null): string | null;

  /**
   * Takes part until leave(). Resolves when the others can see it. Calling it again has no effect.
   */
  async join(options: WaitOptions = {}): Promise<void> {
    this.#node ??= this.#newNode();
    const node = this.#node;
    await node.whenStanding(options);
    if (this.#joined === node) return;
    this.#joined = node;
    node.onFailure((error) => this.#failures.tell(error, { isAwaited: false }));
  }

  /** Stops taking part; it may join again later. Throws RecipeStateError if it has not joined. */
  async leave(): Promise<void> {
    const node = this.#node;
    if (node === null) throw new RecipeStateError(this.path, 'has not joined');
    this.#node = null;
    await node.close();
  }

  /** Whether the others could see it, as far as is known. */
  get isParticipating(): boolean {
    return this.#node?.isStanding === true;
  }

  /**
   * Reads once the identifiers, sorted. An identifier that several participants have occurs as many
   * times.
   */
  async participants(options: OperationOptions = {}): Promise<string[]> {
    return this.#identifiersOf(await readChildren(this.#client, this.path, this.withData, options));
  }

  /**
   * Yields the identifiers now and after each change, until the signal is aborted or the loop is
   * left.
   */
  async *follow(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<string[], void> {
    const { withData } = this;
    for await (const children of followChildren(this.#client, this.path, {
      ...options,
      withData,
    })) {
      yield this.#identifiersOf(children);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#node !== null) await this.leave();
  }

  protected override get supervised(): Supervised {
    return {
      status: this.#node?.status ?? 'idle',
      failure: this.#node?.failure ?? null,
      onFailure: (listener) => this.#failures.listen(listener),
    };
  }

  #newNode(): PersistentNode {
    const { name, data } = this.nodeOf(this.#uuid);
    const acl = this.#acl;
    const given = acl === undefined ? { data } : { data, acl };
    return new PersistentNode(this.#client, joinPath(this.path, name), given);
  }

  #identifiersOf(children: ChildrenByName): string[] {
    const identifiers = [...children].map(([name, data]) => this.identifierOf(name, data));
    return identifiers.filter((identifier) => identifier !== null).sort();
  }
}

export class Party extends AnyParty {
  protected override readonly withData = true;

  protected override nodeOf(uuid: string) {
    return { name: `${uuid}${PARTY_NAME}`, data: this.identifier };
  }

  protected override identifierOf(name: string, data: Buffer | null): string | null {
    return name.includes(PARTY_NAME) ? (data?.toString() ?? '') : null;
  }
}

export class ShallowParty extends AnyParty {
  protected override readonly withData = false;

  protected override nodeOf(uuid: string) {
    checkName('identifier', `-${this.identifier}`);
    return { name: `${uuid}-${this.identifier}`, data: '0' };
  }

  protected override identifierOf(name: string): string | null {
    return shallowIdentifier(name);
  }
}

/** Returns what follows the first dash; null if there is none. */
export function shallowIdentifier(name: string): string | null {
  const dash = name.indexOf('-');
  return dash < 0 ? null : name.slice(dash + 1);
}
