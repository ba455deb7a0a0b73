/**
 * A transaction that is committed exactly once despite lost replies. It creates an ephemeral marker
 * with a new GUID, so if the transaction is repeated after a lost reply, it finds the marker and
 * changes nothing.
 *
 * The outcome can be determined for as long as the session lives. If the wait ends earlier, `doubt`
 * records that, and the caller's error is ambiguous. Markers are deleted in the background, or with
 * the session. Used by the queues, because the names of their entries cannot contain a GUID.
 */
import { joinPath, NodeExistsError, NoNodeError, parentOf } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import { TransactionError } from '../../api/errors.js';
import type { TransactionOp } from '../../api/transaction.js';
import type { Acl } from '../../api/values.js';
import { createContainers } from '../shared/container-parent.js';
import type { Doubt } from '../shared/doubt.js';
import { ensureThere } from '../shared/idempotent.js';
import { bounds, isAmbiguous, persist, type Within } from '../shared/persist.js';

export interface Undertaking {
  readonly ops: readonly TransactionOp[];
  /** The container of the markers. */
  readonly marks: string;
  /** The ACL of the marker and of directories that are created. */
  readonly acl?: readonly Acl[] | undefined;
}

/** Beyond this, somebody deletes directories as fast as they are created. */
const ROUNDS_MAX = 10;

/**
 * Resolves when the transaction is committed. Missing directories of what it creates are created.
 * Rejects with TransactionError, with an index into `ops`, if nothing of it was done.
 */
export async function commitOnce(
  client: Client,
  undertaking: Undertaking,
  within: Within,
  doubt: Doubt,
): Promise<void> {
  const mark = joinPath(undertaking.marks, `_c_${client.surroundings.uuid()}-mark`);
  try {
    await persist(client, within, () => commit(client, mark, undertaking, within, doubt));
    removeMark(client, mark, within.session.id);
  } catch (error) {
    if (doubt.mayBeDone) removeMark(client, mark, within.session.id);
    throw error;
  }
}

async function commit(
  client: Client,
  mark: string,
  { ops, acl, marks }: Undertaking,
  within: Within,
  doubt: Doubt,
): Promise<void> {
  const given = acl === undefined ? {} : { acl };
  const all = [{ kind: 'create', path: mark, mode: 'ephemeral', ...given } as const, ...ops];
  for (let round = 1; ; round++) {
    try {
      await client.multi(all, bounds(within));
      doubt.mayBeDone = false;
      return;
    } catch (error) {
      if (isAmbiguous(error)) doubt.mayBeDone = true;
      if (!(error instanceof TransactionError)) throw error;
      // This is an answer: the transaction was done before if the marker exists, and otherwise not
      // at all.
      doubt.mayBeDone = false;
      if (error.failedIndex === 0 && error.error instanceof NodeExistsError) return;
      const atFault = all[error.failedIndex];
      const isMissing = error.error instanceof NoNodeError && atFault?.kind === 'create';
      if (!isMissing || round === ROUNDS_MAX) throw shifted(error);
      if (atFault.path === mark) await createContainers(client, marks, { ...bounds(within), acl });
      else await ensureThere(client, parentOf(atFault.path), given, within);
    }
  }
}

/** Returns the same error with indexes into the caller's operations. */
function shifted({ failedIndex, error, results }: TransactionError): TransactionError {
  const errors = results.slice(1).map((result) => (result instanceof Error ? result : null));
  return new TransactionError(failedIndex - 1, error, errors);
}

/**
 * Sent without waiting, so that many deletions do not queue up. A deletion that fails is left to
 * deleteGuaranteed().
 */
function removeMark(client: Client, path: string, session: bigint): void {
  const remove = async () => {
    try {
      await client.delete(path, { session });
    } catch (error) {
      if (!(error instanceof NoNodeError)) await client.deleteGuaranteed(path, { session });
    }
  };
  remove().catch(() => {
    // The end of the session deletes it.
  });
}
