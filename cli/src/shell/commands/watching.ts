/** `watch` shows what happens to a znode, or below it, as it happens. */
import type { WatchEvent } from '@rookery/client';
import { type Call, EXIT } from '../../command/command.js';
import { hex, timeOf } from '../../command/values.js';

export async function watch(call: Call): Promise<number> {
  const { output, signal } = call;
  const path = call.path(0);
  const countMax = call.number('count') ?? Number.POSITIVE_INFINITY;
  const client = await call.client();
  const events = client.watch(path, { recursive: call.flag('recursive'), signal });
  // Answers come in the order of requests: with this one, the server has the watch.
  await client.exists(path);
  const below = call.flag('recursive') ? ' and everything below it' : '';
  await output.talk(`Watching ${path}${below}; Ctrl-C ends it.`);
  let count = 0;
  try {
    for await (const event of events) {
      const zxid = 'zxid' in event && event.zxid !== null ? hex(event.zxid) : null;
      const time = timeOf(Date.now());
      const json = { time, type: event.type, path: event.path, zxid };
      await output.event(json, () => `${time}  ${event.type.padEnd(15)}  ${event.path}`);
      await explain(call, event);
      if (++count >= countMax) break;
    }
  } catch (error) {
    // Ctrl-C ends a watch.
    if (!signal.aborted) throw error;
  }
  return EXIT.done;
}

async function explain({ output }: Call, event: WatchEvent): Promise<void> {
  if (event.type !== 'resync') return;
  const reasons = {
    reconnected: 'the connection was lost and is back',
    'new-session': 'the session had expired and there is a new one',
    overflow: 'there were more changes than could be kept',
    're-added': 'the server had forgotten the watch',
  };
  await output.talk(`Changes may be missing here: ${reasons[event.reason]}.`);
}
