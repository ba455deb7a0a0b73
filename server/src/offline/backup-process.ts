/**
 * Runs in a process of its own, and makes a backup from what a member writes to its standard input:
 * `node backup-process.js FILE PART`.
 *
 * It holds a second copy of the tree, so it is a process of its own: the member's heap stays as it
 * is, and where memory ends the kernel ends this one first. It runs at the lowest priority. On
 * success it prints one line of JSON, `SavedBackup` without the time; else the reason goes to
 * standard error, and the code is 1. Started by `backup-keeper.ts` alone.
 */
import { errorMessage } from '@rookery/protocol';
import { readBackup } from './backup-stream.js';
import { collectRarely, lowerPriority, whileMemberWaits } from './lower-priority.js';
import { writeSnapshot } from './snapshot-output.js';

const [, , path = '', part = ''] = process.argv;

try {
  lowerPriority();
  collectRarely();
  const state = await whileMemberWaits(() => readBackup(process.stdin));
  const how = { withChecksum: true, part };
  const { zxid, znodes, bytes } = await writeSnapshot({ state }, path, how);
  process.stdout.write(`${JSON.stringify({ zxid: Number(zxid), znodes, bytes })}\n`);
} catch (error) {
  process.stderr.write(errorMessage(error));
  process.exitCode = 1;
}
