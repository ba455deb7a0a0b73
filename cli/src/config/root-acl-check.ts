/**
 * Checks for `rookery config check` whether a running ensemble was founded without `rootAcl`, so
 * that any client may still change its root.
 *
 * It connects without credentials, in a session that lasts for a moment, so nothing of the config
 * is proved to the server that answers. It never throws, and finds nothing if no member serves or
 * admits such a client.
 */
import { type Client, connect, NoAuthError } from '@rookery/client';
import { addressText, permsText } from '@rookery/protocol';
import {
  type Config,
  changesByEverybody,
  OperatorError,
  rootAclOf,
  type ServerAddress,
} from '@rookery/server';
import { SILENT } from '../command/silent-logger.js';
import { type Finding, finding } from './config-checks.js';

const ASK_MS = 2_000;

export async function rootAclCheck(config: Config): Promise<Finding | null> {
  try {
    const rootAcl = rootAclOf(config);
    return rootAcl === null ? null : await comparedWith(rootAcl, config);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return finding('FAIL', error.message);
  }
}

async function comparedWith(
  rootAcl: Parameters<typeof changesByEverybody>[0],
  { servers, tls }: Config,
): Promise<Finding | null> {
  const allowed = await changesAsAnybody(servers, tls?.required === true);
  if (allowed === null) return null;
  const more = allowed & ~changesByEverybody(rootAcl);
  if (more === 0) return finding('ok', 'the root of the tree is not more open than rootAcl');
  return finding(
    'warning',
    `any client may change the root of the tree (${permsText(more)}), because rootAcl has no ` +
      'effect on an ensemble that exists: set the ACL of / with "rookery acl set"',
  );
}

/** Null if no server answers. */
async function changesAsAnybody(
  servers: readonly ServerAddress[],
  isSecure: boolean,
): Promise<number | null> {
  const hosts = servers.map(({ host, clientHost, clientPort }) => {
    return addressText(clientHost ?? host, clientPort);
  });
  let client: Client | null = null;
  try {
    client = await connect(hosts.join(','), {
      connectDeadlineMs: ASK_MS,
      operationTimeoutMs: ASK_MS,
      logger: SILENT,
      // Nothing is sent that only the right server may know.
      ...(isSecure ? { tls: { rejectUnauthorized: false } } : {}),
    });
    return changesByEverybody((await client.getAcl('/')).acl);
  } catch (error) {
    return error instanceof NoAuthError ? 0 : null;
  } finally {
    await client?.close();
  }
}
