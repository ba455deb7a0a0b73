/**
 * The ACLs of a copy, which go on last where they would keep the copy from its own work: until all
 * that is below a znode is there, its ACL has the user's own identity besides. Called by `cp`.
 */
import { type Acl, type Client, Perms } from '@rookery/client';
import { OperatorError } from '@rookery/server';
import { countText } from '../../command/values.js';
import { OWN_ENTRY, OwnAccess } from '../../znodes/own-access.js';
import { isWithin } from '../../znodes/paths.js';

interface Unfinished {
  readonly path: string;
  readonly acl: readonly Acl[];
}

export class CopiedAcls {
  readonly #into: Client;
  readonly #access: OwnAccess;
  /** Each is below the one before it. */
  readonly #unfinished: Unfinished[] = [];

  private constructor(into: Client, access: OwnAccess) {
    this.#into = into;
    this.#access = access;
  }

  /** `target` is where the copy begins. */
  static async at(into: Client, target: string): Promise<CopiedAcls> {
    return new CopiedAcls(into, await OwnAccess.at(into, target));
  }

  /** Throws OperatorError if the copy could not go on below the znode. */
  async require(path: string, acl: readonly Acl[]): Promise<void> {
    const { hasIdentity } = this.#access;
    if (hasIdentity || ((await this.#access.permsOf(acl)) & Perms.create) !== 0) return;
    throw new OperatorError(
      `The ACL of ${path} would keep you from copying what is below it: ` +
        'authenticate, so that an ACL can name you.',
    );
  }

  /** Makes the znode with the list, or with what it has until everything below it is there. */
  async make(
    { path, acl }: Unfinished,
    make: (acl: readonly Acl[]) => Promise<unknown>,
  ): Promise<void> {
    const given = await this.#access.whileWorking(acl);
    await make(given);
    if (given !== acl) this.#unfinished.push({ path, acl });
  }

  /** Replaces the list; no other client sees what `write` writes, nor what was there before. */
  async replace(copy: Unfinished, write: () => Promise<unknown>): Promise<void> {
    const { path } = copy;
    await this.make(copy, async (given) => {
      if (this.#access.hasIdentity) await this.#into.setAcl(path, [OWN_ENTRY]);
      await write();
      await this.#into.setAcl(path, given);
    });
  }

  /** Finishes the lists of what is whole once the copy goes on at `path`; null for all. */
  async finishUpTo(path: string | null): Promise<void> {
    for (;;) {
      const last = this.#unfinished.at(-1);
      if (last === undefined || (path !== null && isWithin(path, last.path))) return;
      await this.#into.setAcl(last.path, last.acl);
      this.#unfinished.pop();
    }
  }

  /** What to say where the copy has failed; null if nothing. */
  get remark(): string | null {
    const [first] = this.#unfinished;
    if (first === undefined) return null;
    const count = countText(this.#unfinished.length, 'ACL');
    return (
      `${count} of the copy, such as that of ${first.path}, still have an entry of yours: ` +
      'cp with --overwrite --acls goes on, and takes it away.'
    );
  }
}
