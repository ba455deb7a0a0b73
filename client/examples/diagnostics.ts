/**
 * Diagnostics: what a client says about itself, as log lines, messages of a channel and metrics.
 *
 *   node diagnostics.ts 127.0.0.1:2181
 */
import { subscribe } from 'node:diagnostics_channel';
import { ClientMetrics, connect, type OperationMessage } from '@rookery/client';

const [servers = '127.0.0.1:2181'] = process.argv.slice(2);
subscribe('rookery:client:operation', (message) => {
  const { op, path } = message as OperationMessage;
  console.log('done:', op, path);
});
const metrics = new ClientMetrics();
await using zk = await connect(servers, { name: 'example', logger: console });
metrics.add(zk);
await zk.exists('/examples');
const counted = metrics
  .text()
  .split('\n')
  .filter((line) => /operations_total\{/.test(line));
console.log(counted.join('\n'));
metrics.close();
