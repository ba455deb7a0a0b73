/**
 * Lists who is in line, for people and for requests of a revocation. It reads the directory and
 * each znode in it once, watches nothing and changes nothing.
 */
import { joinPath, NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { OperationOptions } from '../../api/values.js';
import { inLine, type Place } from './sequence.js';

/** A holder or waiter. */
export interface Contestant {
  readonly path: string;
  readonly marker: string;
  readonly data: Buffer | null;
}

/** In the order of the line; none if there is no such directory. */
export async function contestantsIn(
  client: Client,
  directory: string,
  markers: readonly string[],
  options: OperationOptions,
): Promise<Contestant[]> {
  try {
    const { children } = await client.getChildren(directory, options);
    const read = inLine(children, markers).map((place) =>
      contestantAt(client, directory, place, options),
    );
    return (await Promise.all(read)).filter((contestant) => contestant !== null);
  } catch (error) {
    if (error instanceof NoNodeError) return [];
    throw error;
  }
}

/** Null if it was deleted since the directory was read. */
async function contestantAt(
  client: Client,
  directory: string,
  { name, marker }: Place,
  options: OperationOptions,
): Promise<Contestant | null> {
  const path = joinPath(directory, name);
  try {
    const { data } = await client.getData(path, options);
    return { path, marker, data };
  } catch (error) {
    if (error instanceof NoNodeError) return null;
    throw error;
  }
}
