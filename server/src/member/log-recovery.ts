/**
 * What a member says of its disk when it starts: one line, and one more for what is wrong with it.
 */
import { formatZxid } from '@rookery/protocol';
import type { Logger } from 'pino';
import { VERSION } from '../config/version.js';
import type { Recovered } from '../storage/index.js';

export function logRecovery(logger: Logger, recovered: Recovered): void {
  const { acceptedEpoch, currentEpoch, ensembleId, founded } = recovered;
  const facts = {
    version: VERSION,
    checkpoint: formatZxid(recovered.checkpointZxid),
    last: formatZxid(recovered.last),
    acceptedEpoch,
    currentEpoch,
    ensembleId,
    founded,
  };
  logger.info(facts, 'server.recovered');
  const { history, unreadableLog: reason, unfinished: removed } = recovered;
  if (removed !== undefined) {
    logger.info(
      { removed },
      'server.founded_anew: an earlier first start had not ended, so it had promised nothing: what ' +
        'it left is removed, and this is the first start',
    );
  }
  if (reason !== undefined) {
    logger.warn({ base: formatZxid(history.base), reason }, 'log.unreadable');
  }
  if (recovered.damaged === null) return;
  logger.error(
    { damage: recovered.damaged },
    'server.damaged: this member does not vote and waits for a snapshot from a leader',
  );
}
