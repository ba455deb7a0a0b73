/**
 * Metrics of the clients of this process for Prometheus, as text or in a registry of prom-client.
 *
 * It counts what the channels of node:diagnostics_channel report, from its construction until
 * close(); without an instance, nothing is counted. Gauges are read from the clients that were
 * added, at the time of each scrape. It keeps a reference to a client until that is closed or
 * removed.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Client } from '../api/client.js';
import type { ClientState } from '../api/values.js';
import type {
  AttemptMessage,
  LagMessage,
  OperationMessage,
  StateMessage,
} from '../session/diagnostics.js';
import { Metric, type MetricSource, type MetricType } from './metric.js';
import { Counter, Histogram, type Sample } from './series.js';

/** The part of prom-client's registry that is used here. */
export interface MetricRegistry {
  registerMetric(metric: RegistryMetric): void;
}

/** What such a registry expects of a metric. */
export interface RegistryMetric {
  get(): Promise<object>;
  reset(): void;
}

const STATES: readonly ClientState[] = ['connecting', 'connected', 'suspended', 'lost', 'closed'];
/** In seconds: from a read in the same rack to the default of `operationTimeoutMs`. */
const LATENCY_BOUNDS = [
  ...[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
];
const LATENCY = 'rookery_client_operation_duration_seconds';

export class ClientMetrics {
  /** The content type of `text()`. */
  readonly contentType = 'text/plain; version=0.0.4; charset=utf-8';
  /** The clients, each with the function that removes it. */
  readonly #clients = new Map<Client, () => void>();
  readonly #operations = new Counter(['client', 'op', 'result']);
  readonly #latency = new Histogram({
    name: LATENCY,
    labelNames: ['client', 'op'],
    bounds: LATENCY_BOUNDS,
  });
  readonly #changes = new Counter(['client', 'state']);
  readonly #sessions = new Counter(['client']);
  readonly #attempts = new Counter(['client', 'server']);
  readonly #lags = new Counter(['client']);
  readonly #metrics: readonly Metric[];

  constructor() {
    this.#metrics = this.#newMetrics();
    subscribe('rookery:client:operation', this.#onOperation);
    subscribe('rookery:client:state', this.#onState);
    subscribe('rookery:client:attempt', this.#onAttempt);
    subscribe('rookery:client:lag', this.#onLag);
  }

  /**
   * Includes a client in the gauges until it is closed. Returns a function that removes it earlier.
   * The gauges of clients with the same name are added up.
   */
  add(client: Client): () => void {
    const known = this.#clients.get(client);
    if (known !== undefined) return known;
    const remove = () => {
      stop();
      this.#clients.delete(client);
    };
    const stop = client.onState(({ state }) => {
      if (state === 'closed') remove();
    });
    this.#clients.set(client, remove);
    return remove;
  }

  /**
   * Registers every metric. Throws what the registry throws for a name that is already registered.
   */
  registerIn(registry: MetricRegistry): void {
    for (const metric of this.#metrics) registry.registerMetric(metric);
  }

  /** Returns all metrics in Prometheus's text format, for an application's own `/metrics`. */
  text(): string {
    return this.#metrics.map((metric) => metric.text()).join('\n');
  }

  /** Stops counting. What was counted can still be read. Calling it again has no effect. */
  close(): void {
    unsubscribe('rookery:client:operation', this.#onOperation);
    unsubscribe('rookery:client:state', this.#onState);
    unsubscribe('rookery:client:attempt', this.#onAttempt);
    unsubscribe('rookery:client:lag', this.#onLag);
    for (const remove of [...this.#clients.values()]) remove();
  }

  readonly #onOperation = (message: unknown): void => {
    const { client, op, error, latencyMs } = message as OperationMessage;
    this.#operations.add([client, op, error === null ? 'ok' : error.name]);
    this.#latency.observe([client, op], latencyMs / 1000);
  };

  readonly #onState = (message: unknown): void => {
    const { client, state, newSession } = message as StateMessage;
    this.#changes.add([client, state]);
    if (newSession) this.#sessions.add([client]);
  };

  readonly #onAttempt = (message: unknown): void => {
    const { client, server } = message as AttemptMessage;
    this.#attempts.add([client, server]);
  };

  readonly #onLag = (message: unknown): void => {
    const { client } = message as LagMessage;
    this.#lags.add([client]);
  };

  #newMetrics(): Metric[] {
    const counters: readonly [string, string, Counter][] = [
      ['operations_total', 'Operations that were settled, by result.', this.#operations],
      ['state_changes_total', 'Changes of the state, by the new one.', this.#changes],
      ['sessions_total', 'Sessions that were opened.', this.#sessions],
      ['failed_attempts_total', 'Attempts at a server that gave no session.', this.#attempts],
      ['lags_total', 'Times that this process was busy enough to risk a session.', this.#lags],
    ];
    const gauges: readonly [string, string, (client: Client) => number][] = [
      ['outstanding', 'Operations queued or in flight.', (client) => client.outstandingCount],
      ['watchers', 'Watchers that are registered.', (client) => client.watchCount],
      ['deletions', 'Guaranteed deletions to be done.', (client) => client.deletionCount],
    ];
    return [
      ...counters.map(([name, help, source]) => metric('counter', name, help, source)),
      new Metric({
        name: LATENCY,
        type: 'histogram',
        source: this.#latency,
        help: 'Time from the call of an operation to its settlement.',
      }),
      ...gauges.map(([name, help, read]) =>
        metric(
          'gauge',
          name,
          help,
          gauge(() => this.#sum(read)),
        ),
      ),
      metric(
        'gauge',
        'state',
        'Clients in each state.',
        gauge(() => this.#states()),
      ),
    ];
  }

  #sum(read: (client: Client) => number): Sample[] {
    const sums = new Map<string, number>();
    for (const client of this.#clients.keys()) {
      sums.set(client.name, (sums.get(client.name) ?? 0) + read(client));
    }
    return [...sums].map(([client, value]) => ({ labels: { client }, value }));
  }

  #states(): Sample[] {
    const clients = [...this.#clients.keys()];
    return [...new Set(clients.map(({ name }) => name))].flatMap((client) => {
      const own = clients.filter(({ name }) => name === client).map(({ state }) => state);
      return STATES.map((state) => {
        return { labels: { client, state }, value: own.filter((at) => at === state).length };
      });
    });
  }
}

function metric(type: MetricType, name: string, help: string, source: MetricSource): Metric {
  return new Metric({ name: `rookery_client_${name}`, help, type, source });
}

function gauge(read: () => Sample[]): MetricSource {
  return { read, reset: () => undefined };
}
