/**
 * Goal: what a client does can be read by a registry of prom-client and as Prometheus's text, and
 * both say the same. Method: a real client on a scripted network and fake time.
 */
import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { ScriptedClient } from '../testing/scripted-client.js';
import { dataBody, turn } from '../testing/scripted-server.js';
import { ClientMetrics } from './client-metrics.js';
import { Counter } from './series.js';

function newMetrics(): ClientMetrics {
  const metrics = new ClientMetrics();
  onTestFinished(() => metrics.close());
  return metrics;
}

async function busyClient(metrics: ClientMetrics): Promise<ScriptedClient> {
  const scripted = new ScriptedClient({ name: 'orders' });
  scripted.network.onDial = (link) => {
    if (link.address.ip === 'a') link.close(new Error('refused'));
    else link.open();
  };
  metrics.add(scripted.client);
  await turn();
  scripted.network.last.answerHandshake({ id: 1, timeoutMs: 9_000 });
  await turn();
  const read = scripted.client.getData('/a');
  const missing = scripted.client.getData('/b').catch(() => undefined);
  const waiting = scripted.client.getData('/c');
  waiting.catch(() => undefined);
  await turn();
  scripted.surroundings.advance(7);
  scripted.network.last.reply({ zxid: 3, body: dataBody('x') });
  await turn();
  scripted.network.last.reply({ zxid: 4, error: -101 });
  await Promise.all([read, missing]);
  return scripted;
}

it('counts operations, sessions, states and attempts, and reads gauges', async () => {
  const metrics = newMetrics();
  const scripted = await busyClient(metrics);
  const text = metrics.text();
  for (const line of [
    'rookery_client_operations_total{client="orders",op="getData",result="ok"} 1',
    'rookery_client_operations_total{client="orders",op="getData",result="NoNodeError"} 1',
    'rookery_client_operation_duration_seconds_bucket{le="0.005",client="orders",op="getData"} 0',
    'rookery_client_operation_duration_seconds_bucket{le="0.01",client="orders",op="getData"} 2',
    'rookery_client_operation_duration_seconds_bucket{le="+Inf",client="orders",op="getData"} 2',
    'rookery_client_operation_duration_seconds_sum{client="orders",op="getData"} 0.014',
    'rookery_client_sessions_total{client="orders"} 1',
    'rookery_client_failed_attempts_total{client="orders",server="a:2181"} 1',
    'rookery_client_outstanding{client="orders"} 1',
    'rookery_client_state{client="orders",state="connected"} 1',
    'rookery_client_state{client="orders",state="lost"} 0',
  ]) {
    expect(text.split('\n')).toContain(line);
  }
  expect(scripted.client.outstandingCount).toBe(1);
});

it.each([Registry.PROMETHEUS_CONTENT_TYPE, Registry.OPENMETRICS_CONTENT_TYPE] as const)(
  'is read by a registry of prom-client, as %s',
  async (contentType) => {
    const metrics = newMetrics();
    const registry = new Registry();
    registry.setContentType(contentType as never);
    metrics.registerIn(registry);
    await busyClient(metrics);
    const ours = metrics.text();
    const theirs = await registry.metrics();
    const samples = (text: string) =>
      text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(samples(theirs).length).toBeGreaterThan(20);
    if (contentType === Registry.PROMETHEUS_CONTENT_TYPE)
      expect(samples(theirs)).toEqual(samples(ours));
    else expect(theirs).toContain('rookery_client_sessions_total{client="orders"} 1');
    registry.resetMetrics();
    expect(await registry.metrics()).not.toContain('rookery_client_sessions_total{');
  },
);

it('counts nothing after close, and lets go of clients that are closed', async () => {
  const metrics = newMetrics();
  const scripted = new ScriptedClient({ name: 'gone' });
  metrics.add(scripted.client);
  await scripted.accept();
  const closing = scripted.client.close();
  await turn();
  scripted.network.last.reply();
  await closing;
  expect(metrics.text()).not.toContain('rookery_client_state{');
  metrics.close();
  const after = metrics.text();
  await busyClient(metrics);
  expect(metrics.text().replaceAll(/^rookery_client_(?:outst|watch|del|state\{).*$\n/gm, '')).toBe(
    after,
  );
});

it('adds up clients of the same name, and escapes what a label cannot hold', () => {
  const metrics = newMetrics();
  for (let index = 0; index < 2; index++) metrics.add(new ScriptedClient({ name: '"a"\n' }).client);
  expect(metrics.text()).toContain(
    'rookery_client_state{client="\\"a\\"\\n",state="connecting"} 2',
  );
});

it('bounds its series: what exceeds them is counted as other', () => {
  const counter = new Counter(['a', 'b']);
  for (let index = 0; index < 1_200; index++) counter.add(['x', `${index}`]);
  const samples = counter.read();
  expect(samples).toHaveLength(1_001);
  expect(samples.at(-1)).toEqual({ labels: { a: 'other', b: 'other' }, value: 200 });
});
