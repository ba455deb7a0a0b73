/**
 * Waits for room on a member's disks before anything is opened there.
 *
 * A member that starts without room would end with the first write that fails, and its supervisor
 * would start it until it gives up. So the start waits, with a line at once and each minute, until
 * a tenth of the reserve is free. That is enough for what a start writes; up to the whole reserve
 * the member then runs as one whose disk is full (DiskSpace). Called by `server.ts`.
 */
import { dirname } from 'node:path';
import { errorMessage } from '@rookery/protocol';
import type { Logger } from 'pino';
import { pause, type Timers } from '../net/timers.js';
import { isFull } from '../storage/errors.js';
import { defaultReserve, type MeasureSpace, type Space } from './write-bounds.js';

const AGAIN_MS = 1000;
const LINE_MS = 60_000;
const START_SHARE = 0.1;
/** A start needs this also where the setting reserves nothing. */
const START_BYTES_MIN = 2_000_000;

interface StartRoomParts {
  readonly directories: { readonly data: string; readonly log: string };
  /** The setting; null for the default of each disk. */
  readonly diskReserveBytes: number | null;
  readonly logger: Logger;
  readonly timers: Timers;
  readonly spaceOf: MeasureSpace;
}

/** What the start waits for, as the log line has it. */
type Lack =
  | { readonly directory: string; readonly freeBytes: number; readonly neededBytes: number }
  | { readonly reason: string };

/**
 * Opens once there is room, and again if it fails for a full disk or quota: `open` must leave
 * nothing open then. Rejects with its other errors, and with the signal's reason when that is
 * aborted first.
 */
export async function withRoom<T>(
  open: () => Promise<T>,
  parts: StartRoomParts,
  signal: AbortSignal | undefined,
): Promise<T> {
  const { logger, timers } = parts;
  const sinceMs = timers.nowMs();
  let lineMs = sinceMs;
  for (;;) {
    signal?.throwIfAborted();
    let lack: Lack | null = await lackOf(parts, signal);
    signal?.throwIfAborted();
    if (lack === null) {
      try {
        const opened = await open();
        if (lineMs > sinceMs) logger.info('start.has_room');
        return opened;
      } catch (error) {
        if (!isFull(error)) throw error;
        lack = { reason: errorMessage(error) };
      }
    }
    const nowMs = timers.nowMs();
    if (nowMs >= lineMs) {
      lineMs = nowMs + LINE_MS;
      logger.error(
        { ...lack, waitedMs: Math.round(nowMs - sinceMs) },
        'start.waits_for_room: the disk is full, so this member does not start yet; it measures ' +
          'again each second, and goes on when you have made room',
      );
    }
    const again = pause(AGAIN_MS, timers, signal);
    await again.over;
    again.cancel();
  }
}

/** Null if there is room, or nothing is known: then opening shows it. */
async function lackOf(
  { directories, diskReserveBytes, spaceOf, timers }: StartRoomParts,
  signal: AbortSignal | undefined,
): Promise<Lack | null> {
  for (const directory of new Set([directories.data, directories.log])) {
    const patience = pause(AGAIN_MS, timers, signal);
    const unknown = patience.over.then(() => null);
    const space = await Promise.race([spaceAround(directory, spaceOf), unknown]);
    patience.cancel();
    if (space === null) continue;
    const { freeBytes, totalBytes } = space;
    const reserve = diskReserveBytes ?? defaultReserve(totalBytes);
    const neededBytes = Math.max(START_BYTES_MIN, Math.ceil(reserve * START_SHARE));
    if (freeBytes < neededBytes) return { directory, freeBytes, neededBytes };
  }
  return null;
}

/** At the first start the directory does not exist yet: it is made where its parent is. */
async function spaceAround(directory: string, spaceOf: MeasureSpace): Promise<Space | null> {
  const space = await spaceOf(directory);
  const parent = dirname(directory);
  return space !== null || parent === directory ? space : await spaceAround(parent, spaceOf);
}
