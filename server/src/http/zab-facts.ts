/**
 * What the admin port tells of the ensemble: the leader, the members, this member's state, and the
 * settings it was started with.
 */
import { counterOf, epochOf, longAddressText, longHost } from '@rookery/protocol';
import { type Config, electionPortOf, type ServerAddress } from '../config/config.js';
import { formatHex } from '../net/four-letter/format.js';
import type { CommandContext, Facts } from './command-context.js';
import { type Json, Lines } from './json-text.js';

/** Nothing else is told: a setting that is added later may be a secret. */
const TOLD = [
  ...['dataDir', 'dataLogDir', 'tickTimeMs', 'servers', 'initLimit', 'syncLimit'],
  ...['peerHeartbeatMs', 'peerTimeoutMs', 'minSessionTimeoutMs', 'maxSessionTimeoutMs'],
  ...['maxClientCnxns', 'connectionTokensMax', 'connectionTokensPerSecond'],
  ...['globalOutstandingLimit', 'frameBytesMax', 'inputBytesMax', 'outputBytesMax'],
  ...['fourLetterWords', 'extendedTypes', 'skipACL', 'enforceQuota', 'treeBytesMax'],
  ...['diskReserveBytes', 'ephemeralsPerSessionMax', 'multiOpsMax', 'pathDepthMax'],
  'neverUsedContainersMs',
  ...['readOnlyMode', 'localSessions', 'reconfigEnabled', 'holdLevel', 'metricsHost'],
  ...['adminHost', 'adminReadOnly', 'logLevel'],
] as const;
const TOLD_OF_SERVERS: ReadonlySet<string> = new Set([
  ...['id', 'host', 'clientPort', 'peerPort', 'listen', 'peerListen', 'clientHost'],
  ...['metricsPort', 'adminPort'],
]);

export function leaderFacts({ view, config, self }: CommandContext): Facts {
  if (config.servers.length === 1) return { error: 'server is not initialized' };
  const { leaderId } = view.details;
  const leader = config.servers.find(({ id }) => id === leaderId);
  return {
    is_leader: leaderId === self.id,
    leader_id: leaderId,
    leader_ip: longHost(leader?.host ?? ''),
  };
}

export function votingView({ config }: CommandContext): Facts {
  if (config.servers.length === 1) return { current_config: {} };
  const members = config.servers.map((server): readonly [string, Json] => [
    String(server.id),
    {
      server_addresses: [longAddressText(server.host, server.peerPort)],
      election_addresses: [longAddressText(server.host, electionPortOf(server))],
      client_address: longAddressText(server.clientHost ?? server.host, server.clientPort),
      learner_type: 'participant',
    },
  ]);
  return { current_config: new Lines(members) };
}

export function zabState({ view, config, self }: CommandContext): Facts {
  if (config.servers.length === 1) return { voting: false, zabstate: '' };
  const { role } = view.health;
  return {
    myid: self.id,
    is_leader: role === 'leading',
    quorum_address: addressFacts(self, self.peerPort),
    election_address: addressFacts(self, electionPortOf(self)),
    client_address: longAddressText(self.clientHost ?? self.host, self.clientPort),
    voting: true,
    last_zxid: `0x${formatHex(view.lastZxid)}`,
    zab_epoch: epochOf(view.lastZxid),
    zab_counter: counterOf(view.lastZxid),
    zabstate: role === 'looking' ? 'election' : 'broadcast',
  };
}

/** ZooKeeper's members may have several addresses, and this is how it writes down their set. */
function addressFacts({ host }: ServerAddress, port: number): Json {
  const address = longAddressText(host, port);
  return {
    empty: false,
    all_addresses: [address],
    all_reachable_addresses: [address],
    one: address,
    reachable_address: address,
    wildcard_addresses: [`0.0.0.0:${port}`],
    all_ports: [port],
    all_host_strings: [longHost(host)],
    all_reachable_addresses_or_all: [address],
    reachable_or_one: address,
  };
}

/** A line for each setting that may be told. */
export function settingsText(config: Config): string {
  const told: ReadonlySet<string> = new Set(TOLD);
  return Object.entries(config)
    .filter(([name]) => told.has(name))
    .map(([name, value]) => `${name}=${textOf(value)}\n`)
    .join('');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, (key, inner: unknown) => {
    const isMember = /^[a-z]/i.test(key);
    return isMember && !TOLD_OF_SERVERS.has(key) ? undefined : inner;
  });
}
