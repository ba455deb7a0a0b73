/**
 * Who stands in line, for people and for those who ask for a revocation. One reading of the
 * directory and of each znode in it; nobody is watched, nothing is changed.
 */
import { joinPath, NoNodeError } from '@rookery/protocol';
import type { Client } from '../../api/client.js';
import type { OperationOptions } from '../../api/values.js';
import { inLine, type Place } from './sequence.js';

/** One who holds or waits. */
export interface Contestant {
  readonly path: string;
  readonly marker: string;
  readonly data: Buffer | null;
}

/** In the order of the line; none when there is no such directory. */
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

/** Null for one that has gone since the directory was read. */
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
