/** `rookery sh` in a real terminal, an ensemble behind it, and a client to look and to prepare. */
import { type Client, connect } from '@rookery/client';
import { onTestFinished } from 'vitest';
import { type Ensemble, useServingEnsemble } from './ensemble.js';
import { Terminal } from './terminal.js';

export interface ShellSession {
  readonly ensemble: Ensemble;
  readonly client: Client;
  readonly terminal: Terminal;
}

/** Resolves when the shell is connected; all ends with the running test. */
export async function useShell(size: number, args: readonly string[] = []): Promise<ShellSession> {
  const ensemble = await useServingEnsemble({ size });
  const hosts = ensemble.ports.map((port) => `127.0.0.1:${port}`).join(',');
  const client = await connect(hosts);
  onTestFinished(() => client.close());
  const terminal = await Terminal.start(['sh', '--connect', hosts, ...args], {});
  await terminal.shows(/Connected to 127\.0\.0\.1:\d+\.\n/);
  return { ensemble, client, terminal };
}
