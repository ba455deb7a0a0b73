/**
 * Group membership: who is there, for ever. Group is for those who look, GroupMember for those who
 * are there as well.
 *
 * **Guarantee.** A member's znode stands while its client has its session, is made anew in the next
 * one, and goes with close() or the session's end. A follower is given the members at first, then
 * after each change; several changes may be given as one, the last one always is. A member sees
 * itself always, also while its znode is yet to be made.
 *
 * **Znodes.** Curator's GroupMember: `<path>` (a container), `<path>/<id>` for each member,
 * ephemeral, with data that the member may change. An id that is taken is waited for.
 *
 * **Suspended.** The znode stands; followers are told nothing and catch up later. **Lost.** The
 * others see the member go; it comes again in the client's next session. Following goes on.
 */
import { joinPath } from '@rookery/protocol';
import type { Client } from '../api/client.js';
import type { Acl, Data, OperationOptions } from '../api/values.js';
import { PersistentNode } from './persistent-node.js';
import { BackgroundRecipe, type Supervised } from './shared/background-recipe.js';
import { followChildren, readChildren } from './shared/follow-children.js';
import type { WaitOptions } from './shared/wait-scope.js';

/** Ids and data. */
export type GroupMembers = ReadonlyMap<string, Buffer | null>;

export class Group {
  readonly path: string;
  readonly #client: Client;

  constructor(client: Client, path: string) {
    this.path = path;
    this.#client = client;
  }

  /** As of one reading. */
  async members(options: OperationOptions = {}): Promise<GroupMembers> {
    return await readChildren(this.#client, this.path, true, options);
  }

  /**
   * The members now and after each change, until the signal is aborted or the loop is left. Throws
   * ClientClosedError, or the server's answer, such as NoAuthError.
   */
  follow(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<GroupMembers, void> {
    return followChildren(this.#client, this.path, { ...options, withData: true });
  }
}

export interface GroupMemberOptions {
  /** What the others are told of this member; can be changed. */
  readonly data?: Data | undefined;
  readonly acl?: readonly Acl[] | undefined;
}

export class GroupMember extends BackgroundRecipe implements AsyncDisposable {
  readonly path: string;
  readonly id: string;
  readonly #group: Group;
  readonly #node: PersistentNode;

  /** The id is a znode's name, unique in the group. */
  constructor(client: Client, path: string, id: string, options: GroupMemberOptions = {}) {
    super();
    this.path = path;
    this.id = id;
    this.#group = new Group(client, path);
    this.#node = new PersistentNode(client, joinPath(path, id), options);
  }

  /** Is a member from now on, in the background; idempotent. */
  start(): void {
    this.#node.start();
  }

  /** Starts if need be and waits until the others can see this member. */
  async join(options: WaitOptions = {}): Promise<void> {
    await this.#node.whenStanding(options);
  }

  /** Resolves when the others can see it; when the wait ends before, it is set later. */
  async setData(data: Data, options: WaitOptions = {}): Promise<void> {
    await this.#node.setData(data, options);
  }

  /** As of one reading, this one always among them. */
  async members(options: OperationOptions = {}): Promise<GroupMembers> {
    return this.#withSelf(await this.#group.members(options));
  }

  /** As Group.follow(), this one always among them. */
  async *follow(
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<GroupMembers, void> {
    for await (const members of this.#group.follow(options)) yield this.#withSelf(members);
  }

  /** Leaves; in the background while there is no connection. Idempotent. */
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
