/**
 * A transaction that is committed once, whatever is lost on the way: an ephemeral mark with a fresh
 * GUID is created in it, so a repetition after a lost reply finds the mark and changes nothing.
 *
 * The outcome is known for as long as the session lives. When the wait ends before it is, `doubt`
 * says so and the error that the caller sees is ambiguous. Marks are deleted in the background, or
 * go with the session. Used by the queues, whose entries' names have no place for a GUID.
 */
import { joinPath, NodeExistsError, NoNodeError, parentOf } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { TransactionOp } from '../../api/transaction.js';
import type { Acl } from '../../api/values.js';
import { TransactionError } from '../../errors.js';
import { createContainers } from '../shared/container-parent.js';
import type { Doubt } from '../shared/doubt.js';
import { ensureThere } from '../shared/idempotent.js';
import { bounds, isAmbiguous, persist, type Within } from '../shared/persist.js';

export interface Undertaking {
  readonly ops: readonly TransactionOp[];
  /** The container for the mark. */
  readonly marks: string;
  /** Of the mark and of directories that are made. */
  readonly acl?: readonly Acl[] | undefined;
}

/** Somebody deletes directories as fast as they are made. */
const ROUNDS_MAX = 10;

/**
 * Resolves when it is committed. Missing directories of what it creates are made. TransactionError,
 * with the index into `ops`: nothing of it was done.
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
      // An answer: done before if the mark stands, and otherwise never, for it would stand.
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

/** The same as it is about the caller's operations. */
function shifted({ failedIndex, error, results }: TransactionError): TransactionError {
  const errors = results.slice(1).map((result) => (result instanceof Error ? result : null));
  return new TransactionError(failedIndex - 1, error, errors);
}

/** Pipelined, so that many are no queue of their own; what fails is left to the patient way. */
function removeMark(client: Client, path: string, session: bigint): void {
  const remove = async () => {
    try {
      await client.delete(path, { session });
    } catch (error) {
      if (!(error instanceof NoNodeError)) await client.deleteGuaranteed(path, { session });
    }
  };
  remove().catch(() => {
    // The session's end deletes it.
  });
}
