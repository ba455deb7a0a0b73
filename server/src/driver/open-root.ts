/**
 * Warns of a tree whose root everybody may change although the configuration has a `rootAcl`, which
 * has an effect at the founding of an ensemble alone: whoever sets it later may believe otherwise.
 *
 * It looks once, when this member first serves clients. An ensemble that is being founded has no
 * transaction yet, and gets the ACL with the first one.
 */
import { permsText } from '@rookery/protocol';
import type { Logger } from 'pino';
import { changesByEverybody } from '../pipeline/open-acl.js';
import type { ReplicatedState } from '../state/replicated-state.js';
import type { Acl } from '../state/txn.js';

export class OpenRoot {
  readonly #rootAcl: readonly Acl[] | null;
  readonly #logger: Pick<Logger, 'warn'>;
  #hasLooked = false;

  constructor(rootAcl: readonly Acl[] | null, logger: Pick<Logger, 'warn'>) {
    this.#rootAcl = rootAcl;
    this.#logger = logger;
  }

  onServing({ tree, lastZxid }: Pick<ReplicatedState, 'tree' | 'lastZxid'>): void {
    if (this.#rootAcl === null || this.#hasLooked) return;
    this.#hasLooked = true;
    if (lastZxid === 0) return;
    const wanted = changesByEverybody(this.#rootAcl);
    const more = changesByEverybody(tree.acl(tree.find('/'))) & ~wanted;
    if (more === 0) return;
    this.#logger.warn(
      { everybodyMay: permsText(more) },
      'ensemble.root_open: rootAcl has no effect on a tree that exists; set the ACL of / instead',
    );
  }
}
