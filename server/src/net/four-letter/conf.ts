/** `conf`: the active configuration, in ZooKeeper's terms. */
import type { MemberView } from '../member-view.js';

/** ZooKeeper's number for its fast leader election, which scripts expect. */
const ELECTION_ALGORITHM = 3;

export function configurationReply({ configuration, quorum }: MemberView): string {
  const facts: (readonly [string, string | number])[] = [
    ['clientPort', configuration.clientPort],
    ['secureClientPort', configuration.secureClientPort ?? -1],
    ['dataDir', configuration.dataDir],
    ['dataDirSize', configuration.dataDirBytes],
    ['dataLogDir', configuration.dataLogDir],
    ['dataLogSize', configuration.dataLogBytes],
    ['tickTime', configuration.tickTimeMs],
    ['maxClientCnxns', configuration.maxClientCnxns],
    ['minSessionTimeout', configuration.minSessionTimeoutMs],
    ['maxSessionTimeout', configuration.maxSessionTimeoutMs],
    ['clientPortListenBacklog', -1],
    ['serverId', configuration.serverId],
  ];
  if (quorum !== null) {
    facts.push(
      ['initLimit', quorum.initLimitTicks],
      ['syncLimit', quorum.syncLimitTicks],
      ['electionAlg', ELECTION_ALGORITHM],
      // Elections use quorumPort, too. Parsers want another number, and nobody listens on that one.
      ['electionPort', quorum.electionPort],
      ['quorumPort', quorum.peerPort],
      ['peerType', quorum.participant ? 0 : 1],
    );
  }
  const lines = facts.map(([name, value]) => `${name}=${value}\n`).join('');
  return quorum === null ? lines : `${lines}membership: \n${quorum.membership}\n`;
}
