/**
 * One operation of a workload, recorded: what it asked for, and how it ended.
 *
 * Always holds: an error that is `ambiguous` is an `info`, never a `fail`; an operation that only
 * reads has no effect, so its errors are `fail`. What is not an error of the ensemble or the client
 * is a bug of the workload and thrown on, after it was recorded.
 */
import { type Client, ClientError, KeeperError } from '@rookery/client';
import type { Json } from '../history/entry.js';
import type { Ending, Recorder } from '../history/history-writer.js';

/** Thrown by an operation that has seen that it must not take place: certainly no effect. */
export class NotDone extends Error {
  override readonly name = 'NotDone';
}

export interface Attempt {
  readonly client: Client;
  readonly recorder: Recorder;
  readonly f: string;
  readonly value: Json;
  /** It cannot have an effect, whatever happens. */
  readonly isRead?: boolean;
}

/** Says what the operation is about, once that is known: for the record, should it fail. */
export type Note = (about: Json) => void;

/** Whether it ended well. */
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

/** The errors of a step that only looks, as such that say that nothing was done. */
export async function looking<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isAmbiguous(error) === null) throw error;
    throw new NotDone(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }
}

/** Null for an error that is nobody's answer. */
export function isAmbiguous(error: unknown): boolean | null {
  if (error instanceof NotDone) return false;
  return error instanceof KeeperError || error instanceof ClientError ? error.ambiguous : null;
}
