/**
 * Group membership: shows continuously who belongs to a group. Group is for observers, GroupMember
 * for members.
 *
 * **Guarantee.** A member's znode exists while its client has its session, is created again in the
 * next session, and is deleted by close() or with the session. A follower receives the members and
 * then each change; several changes may be combined, but the last one is always reported. A member
 * always sees itself, even before its znode is created.
 *
 * **Znodes.** The same as for Curator's GroupMember: `<path>` (a container), `<path>/<id>` for each
 * member, ephemeral, with data that the member may change. If an id is in use, the member waits
 * until it is free. To follow needs ZooKeeper 3.6 or Rookery.
 *
 * **Suspended.** The znode remains; followers receive nothing and catch up later. **Lost.** The
 * others see the member leave; it returns in the client's next session. Following continues.
 */
import { joinPath } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl, Data, OperationOptions } from '../api/values.js';
import { PersistentNode } from './persistent-node.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { followChildren, readChildren } from './shared/follow-children.js';
import { checkName } from './shared/name-check.js';
import type { WaitOptions } from './shared/wait-scope.js';

/** The ids and data of the members. */
export type GroupMembers = ReadonlyMap<string, Buffer | null>;

export class Group {
  readonly path: string;
  readonly #client: Client;

  constructor(client: Client, path: string) {
    this.path = path;
    this.#client = client;
  }

  /** Reads the members once. */
  async members(options: OperationOptions = {}): Promise<GroupMembers> {
    return await readChildren(this.#client, this.path, true, options);
  }

  /**
   * Yields the current members, and again after each change, until the signal is aborted or the
   * loop is left. Throws ClientClosedError, or an error of the server, such as NoAuthError.
   */
  follow(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<GroupMembers, void> {
    return followChildren(this.#client, this.path, { ...options, withData: true });
  }
}

export interface GroupMemberOptions {
  /** The data that other members see; it can be changed. */
  readonly data?: Data | undefined;
  readonly acl?: readonly Acl[] | undefined;
}

export class GroupMember extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly id: string;
  readonly #group: Group;
  readonly #node: PersistentNode;

  /** The id is the name of a znode and must be unique in the group. Throws OptionError. */
  constructor(client: Client, path: string, id: string, options: GroupMemberOptions = {}) {
    super();
    checkName('id', id);
    this.path = path;
    this.id = id;
    this.#group = new Group(client, path);
    this.#node = new PersistentNode(client, joinPath(path, id), options);
  }

  /** Becomes a member, in the background. Calling it again has no effect. */
  start(): void {
    this.#node.start();
  }

  /** Starts if necessary, and waits until the others can see this member. */
  async join(options: WaitOptions = {}): Promise<void> {
    await this.#node.whenStanding(options);
  }

  /**
   * Resolves when the others can see the data. If the wait ends earlier, the data is still set
   * later.
   */
  async setData(data: Data, options: WaitOptions = {}): Promise<void> {
    await this.#node.setData(data, options);
  }

  /** Reads the members once, always including this one. */
  async members(options: OperationOptions = {}): Promise<GroupMembers> {
    return this.#withSelf(await this.#group.members(options));
  }

  /** Like Group.follow(), always including this member. */
  async *follow(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<GroupMembers, void> {
    for await (const members of this.#group.follow(options)) yield this.#withSelf(members);
  }

  /**
   * Leaves the group, in the background if there is no connection. Calling it again has no effect.
   */
  close(): Promise<void> {
    return this.#node.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected override get supervised(): Supervised {
    return this.#node;
  }

  #withSelf(members: GroupMembers): GroupMembers {
    if (members.has(this.id)) return members;
    const { data } = this.#node;
    return new Map([...members, [this.id, data === null ? null : Buffer.from(data)]]);
  }
}
