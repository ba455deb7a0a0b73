/** Registers `rookery mirror`. Its code, and the client library, are loaded when it runs. */
import type { Command } from 'commander';
import { wholeNumber } from '../terminal/numbers.js';

interface MirrorOptions {
  readonly from: string;
  readonly to: string;
  readonly plan?: boolean;
  readonly dryRun?: boolean;
  readonly once?: boolean;
  readonly delete?: boolean;
  readonly deleteRoot?: boolean;
  readonly compareMinutes: number;
  readonly json?: boolean;
}

const MINUTE_MS = 60_000;

export function addMirror(program: Command, onEnd: (code: number) => void): void {
  program
    .command('mirror')
    .description('Copy a subtree from one ensemble into another, and follow it until Ctrl-C.')
    .requiredOption('--from <hosts>', 'the source, Rookery or ZooKeeper: host:port,host:port/path')
    .requiredOption('--to <hosts>', 'the target, in the same form')
    .option('--plan', 'only report what would be done')
    .option('--dry-run', 'the same')
    .option('--once', 'copy and compare, and do not follow')
    .option('--delete', 'first delete what the target has and the source has not')
    .option(
      '--delete-root',
      "when the source's root is deleted, delete the target's (default: end)",
    )
    .option(
      '--compare-minutes <n>',
      'compare everything again this often: no event reports changed ACLs',
      wholeNumber(1, 100_000),
      10,
    )
    .option('--json', 'the report as JSON')
    .action(async (options: MirrorOptions) => {
      const { runMirror } = await import('./mirror-command.js');
      const { from, to, plan = false, dryRun = false, once = false, json = false } = options;
      const compareEveryMs = options.compareMinutes * MINUTE_MS;
      const deletes = options.delete === true;
      const deleteRoot = options.deleteRoot === true;
      onEnd(
        await runMirror({
          from,
          to,
          once,
          json,
          compareEveryMs,
          plan: plan || dryRun,
          delete: deletes,
          deleteRoot,
        }),
      );
    });
}
