/** The Stat of a child that may be closed to the caller, for listings of many. */
import { type Client, NoAuthError, type Stat } from '@rookery/client';

/**
 * Resolves with null where there is no such znode, and where the ACL forbids to read it: Rookery
 * and ZooKeeper 3.9 then refuse `exists`, which ZooKeeper 3.8 answers for everybody.
 */
export async function readableStat(
  client: Pick<Client, 'exists'>,
  path: string,
): Promise<Stat | null> {
  try {
    return await client.exists(path);
  } catch (error) {
    if (error instanceof NoAuthError) return null;
    throw error;
  }
}
