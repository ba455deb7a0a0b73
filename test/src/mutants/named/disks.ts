/**
 * Named bugs of logs and epochs on disk: after a crash between two writes, or in the middle of one.
 */
import { type NamedMutant, scenario } from './named-mutant.js';

export const diskMutants: readonly NamedMutant[] = [
  {
    name: 'zk-4269-history-above-its-epoch-refused',
    area: 'named',
    in: 'soundStorage',
    find: 'if (epochOf(log.last) > meta.acceptedEpoch) $BODY',
    replace: 'if (epochOf(log.last) > meta.currentEpoch) $BODY',
    breaks: 'a crash between the writes of the history and of its epoch leaves a sound disk',
    scenario: scenario(
      'disks',
      'ZK-1653, ZK-2354, ZK-2307, ZK-4269, ZK-335, ZK-3608: a member killed at any write on its way into an epoch starts, votes and joins',
    ),
  },
  {
    name: 'zk-2332-torn-write-blocks-start',
    area: 'named',
    in: 'checkEnd',
    find: 'if (through === null && !(await reader.hasLaterWrite())) return;',
    replace: 'if (through === null && (await reader.hasLaterWrite())) return;',
    breaks: 'an incomplete last write counts as never made, not as damage',
    scenario: scenario(
      'log-files',
      'ZK-2332, ZK-1621: starts with everything before that write, wherever within it the file ends',
    ),
  },
  {
    name: 'zk-4813-torn-header-blocks-start',
    area: 'named',
    in: 'chainOf',
    find: 'if (newest === null || newest.seq < logSeq) $BODY',
    replace: 'if (newest === null || newest.seq < Math.max(...headers.keys())) $BODY',
    breaks: 'an incompletely created file of the log does not keep the member from starting',
    scenario: scenario(
      'log-files',
      'ZK-4813: starts if not even the header of a new file of the log was written',
    ),
  },
  {
    name: 'zk-3496-peers-read-no-more-than-clients-send',
    area: 'named',
    in: 'derivedLimits',
    find: 'const peerFrameBytesMax = Math.max(PEER_FRAME_BYTES_MIN, GATHERED_BYTES + itemBytesMax);',
    replace: `const peerFrameBytesMax = Math.min(
        frameBytesMax,
        PEER_FRAME_BYTES_MIN + GATHERED_BYTES,
      );`,
    breaks: 'whatever is accepted fits into everything that processes it later',
    scenario: scenario(
      'limits',
      'ZK-3496, ZK-4306, ZK-2101: every member, log and restart can read whatever was accepted, including a close of any number of ephemerals',
    ),
  },
  {
    name: 'zk-2789-counter-runs-into-the-epoch',
    area: 'named',
    in: 'EpochZxids.take',
    find: `if (counterOf(zxid) === COUNTER_MAX) this.#exhausted = true;
      else this.#next = zxid + 1;`,
    replace: `if (counterOf(zxid) > COUNTER_MAX) this.#exhausted = true;
      else this.#next = zxid + 1;`,
    breaks: 'zxids of an epoch end with its counter',
    scenario: scenario(
      'limits',
      'ZK-1277, ZK-2789, ZK-4883: writes continue in the next epoch after the last zxid of one, and a restart has all of them',
    ),
  },
];
