/**
 * Loaded into a member before its own code (`--import`): makes each asynchronous write of its
 * process take longer, by as many milliseconds as the file says that SLOW_DISK_FILE names. Without
 * the file, writes are as fast as they are.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const file = process.env['SLOW_DISK_FILE'] ?? '';

function delayMs(): number {
  return fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0;
}

type Write = (...args: readonly unknown[]) => void;
const writes: Record<'write' | 'writev', Write> = fs as never;
for (const name of ['write', 'writev'] as const) {
  const write = writes[name];
  writes[name] = (...args) => {
    const ms = delayMs();
    if (ms === 0) write(...args);
    else setTimeout(() => write(...args), ms);
  };
}
syncBuiltinESMExports();
