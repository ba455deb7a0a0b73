/**
 * What members must share, for the hello: unequal members refuse each other and name both values.
 *
 * To add a setting, add a line. It belongs here if a quorum, a lease, or the outcome of a
 * transaction depends on it. A member of a release that does not name it is not compared in it.
 * Never a secret: whoever reaches the port for members is told.
 */
import { createHash } from 'node:crypto';
import { SHARED_CHARACTERS_MAX } from '@rookery/protocol';
import type { Config } from '../config/config.js';
import type { SharedSettings } from '../net/peer-hello.js';

/** Their order is that of the sentence in which a refusal names them. */
export function sharedSettings(config: Config): SharedSettings {
  const values: Readonly<Record<string, number | boolean | string | null>> = {
    servers: serversText(config),
    // Leases: how long members serve without contact, how long sessions live.
    peerTimeoutMs: config.peerTimeoutMs,
    tickTimeMs: config.tickTimeMs,
    minSessionTimeoutMs: config.minSessionTimeoutMs,
    maxSessionTimeoutMs: config.maxSessionTimeoutMs,
    // What a leader accepts, so that the next one goes by the same rules.
    frameBytesMax: config.frameBytesMax,
    extendedTypes: config.extendedTypes,
    skipACL: config.skipACL,
    enforceQuota: config.enforceQuota,
    ephemeralsPerSessionMax: config.ephemeralsPerSessionMax,
    multiOpsMax: config.multiOpsMax,
    pathDepthMax: config.pathDepthMax,
    neverUsedContainersMs: config.neverUsedContainersMs,
    treeBytesMax: config.treeBytesMax,
  };
  return Object.entries(values).map(([name, value]) => [name, shortened(String(value))]);
}

/**
 * Ids with their hosts, whatever the order of the file. Not the ports: one may be mapped on the way
 * to some members, and who answers there says its id in its hello.
 */
function serversText({ servers }: Config): string {
  const sorted = [...servers].sort((a, b) => a.id - b.id);
  return sorted.map(({ id, host }) => `${id}=${host}`).join(' ');
}

/** Two texts are equal if and only if what this makes of them is. */
function shortened(text: string): string {
  if (text.length <= SHARED_CHARACTERS_MAX) return text;
  const digest = createHash('sha256').update(text).digest('hex');
  return `${text.slice(0, SHARED_CHARACTERS_MAX - 100)}... (SHA-256 ${digest})`;
}
