/**
 * The schedule of backups of a member, from its config. Called once by each member at its start.
 */
import type { Config, ServerAddress } from '../config/config.js';
import {
  BackupSchedule,
  type BackupScheduleParts,
  type BackupTaker,
} from '../driver/backup-schedule.js';
import type { Timers } from '../net/timers.js';
import type { MemberOptions } from './member-options.js';

const MINUTE_MS = 60_000;

export interface BackupParts {
  readonly config: Config;
  readonly self: ServerAddress;
  readonly options: Pick<MemberOptions, 'logger'>;
  readonly surroundings: { readonly timers: Timers; readonly backupTaker?: BackupTaker };
}

export function backupScheduleOf(
  { config, self, options, surroundings }: BackupParts,
  member: Pick<BackupScheduleParts, 'open' | 'treeBytes'>,
): BackupSchedule {
  const { timers, backupTaker: taker = null } = surroundings;
  return new BackupSchedule({
    id: self.id,
    members: config.servers.map(({ id }) => id),
    timers,
    taker,
    ...member,
    everyMs: config.backupEveryMinutes * MINUTE_MS,
    logger: options.logger,
  });
}
