/**
 * Records one operation of a workload: its argument, and how it ended.
 *
 * An error that is `ambiguous` is an `info`, never a `fail`. An operation that only reads has no
 * effect, so its errors are `fail`. Any error that is neither the ensemble's nor the client's is a
 * bug of the workload, and is thrown again after it was recorded.
 */
import { type Client, ClientError, KeeperError } from '@rookery/client';
import type { Json } from '../history/entry.js';
import type { Ending, Recorder } from '../history/history-writer.js';

/** Thrown by an operation that has found that it must not happen; it certainly had no effect. */
export class NotDone extends Error {
  override readonly name = 'NotDone';
}

export interface Attempt {
  readonly client: Client;
  readonly recorder: Recorder;
  readonly f: string;
  readonly value: Json;
  /** Set if the operation cannot have an effect, whatever happens. */
  readonly isRead?: boolean;
}

/** Tells the argument of the operation once it is known, for the record of a failure. */
export type Note = (about: Json) => void;

/** Resolves with whether the operation succeeded. */
export async function attempt(
  { client, recorder, f, value, isRead = false }: Attempt,
  work: (note: Note) => Promise<Json>,
): Promise<boolean> {
  const pending = recorder.invoke(f, value);
  const session = client.session?.id;
  let about: { about?: Json } = {};
  const ending = (): Ending => ({
    ...(session !== undefined && client.session?.id === session
      ? { session: session.toString(16) }
      : {}),
    zxid: Number(client.lastZxidSeen),
  });
  try {
    const result = await work((known) => {
      about = { about: known };
    });
    pending.ok(result, ending());
    return true;
  } catch (error) {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const mayBeDone = isAmbiguous(error);
    if (isRead || mayBeDone === false) pending.fail(text, { ...about, ...ending() });
    else pending.info(text, { ...about, ...ending() });
    if (mayBeDone === null) throw error;
    return false;
  }
}

/** Turns the errors of a step that only reads into errors that say that nothing was done. */
export async function looking<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isAmbiguous(error) === null) throw error;
    throw new NotDone(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }
}

/** Returns null for an error that is neither the ensemble's nor the client's. */
export function isAmbiguous(error: unknown): boolean | null {
  if (error instanceof NotDone) return false;
  return error instanceof KeeperError || error instanceof ClientError ? error.ambiguous : null;
}
