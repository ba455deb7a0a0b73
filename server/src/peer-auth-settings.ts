/**
 * The setting `peerAuth`: how members authenticate each other, and when they must.
 *
 * Whoever reaches a port for members that has no authentication can vote, and read and write the
 * whole tree. So it has to be written down that this is wanted, unless only this machine can reach
 * the port. Knows nothing of files. Called by the rules of the config file.
 */
import { z } from 'zod';
import { type Endpoints, listenHostsOf, peerAddressOf } from './addresses.js';
import { isLoopback } from './four-letter-words.js';

const EXPECTED =
  'expected "none", or an object with secretFile, and with required: false while members without ' +
  'peerAuth are let in';
const EXPECTED_FILE = 'expected a file';

export const peerAuthSchema = z
  .union(
    [
      z.literal('none'),
      z.strictObject({
        secretFile: z.string({ error: EXPECTED_FILE }).min(1, { error: EXPECTED_FILE }),
        required: z.boolean({ error: 'expected true or false' }).default(true),
      }),
    ],
    { error: EXPECTED },
  )
  .nullable()
  .default(null);

export type PeerAuth = Readonly<Exclude<z.infer<typeof peerAuthSchema>, 'none' | null>>;

/** The setting with absolute paths. */
export function resolvedPeerAuth(
  setting: PeerAuth | 'none' | null,
  resolve: (path: string) => string,
): PeerAuth | 'none' | null {
  if (setting === null || setting === 'none') return setting;
  return { ...setting, secretFile: resolve(setting.secretFile) };
}

/** What is wrong where nothing is said about authentication; a server that is alone has no port. */
export function missingPeerAuth(servers: readonly Omit<Endpoints, 'clientPort'>[]): string[] {
  if (servers.length === 1) return [];
  const hosts = servers.flatMap((server) => listenHostsOf(peerAddressOf(server)));
  const open = hosts.find((name) => !isLoopback(name));
  if (open === undefined) return [];
  return [
    'peerAuth: expected an object with secretFile, or "none" in so many words, because members ' +
      `listen on "${open}", which other machines may reach; got nothing`,
  ];
}
