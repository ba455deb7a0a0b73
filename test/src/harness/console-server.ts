/**
 * An ensemble whose first member serves the console, for all tests of a file; on request behind a
 * reverse proxy below a prefix, which knows nothing of either.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { Ensemble, type EnsembleOptions } from './ensemble.js';

export interface ConsoleServer {
  readonly ensemble: Ensemble;
  /** The address of the console, with a slash at its end. */
  readonly address: string;
}

/** Call it at the top of a file. */
export function useConsoleServer(
  options: EnsembleOptions & { readonly prefix?: string } = {},
): () => ConsoleServer {
  let server: ConsoleServer | undefined;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    const ensemble = await Ensemble.create({ size: 1, operated: true, ...options });
    closing.push(() => ensemble.close());
    ensemble.start();
    await ensemble.serving();
    const { adminPort } = ensemble.member(1);
    const { prefix = '' } = options;
    const proxy = prefix === '' ? null : await startProxy(adminPort, prefix);
    if (proxy !== null) closing.unshift(proxy.stop);
    server = {
      ensemble,
      address: `http://127.0.0.1:${proxy?.port ?? adminPort}${prefix}/console/`,
    };
  });
  afterAll(async () => {
    for (const close of closing) await close();
  });
  return () => {
    if (server === undefined) throw new Error('the ensemble did not come up');
    return server;
  };
}

/** Forwards what is below the prefix to a port of 127.0.0.1, without the prefix. */
async function startProxy(to: number, prefix: string) {
  const server = createServer((incoming, answer) => {
    const { url = '' } = incoming;
    if (url.startsWith(`${prefix}/`)) forward(incoming, answer, to, url.slice(prefix.length));
    else answer.writeHead(404).end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port, stop };
}

function forward(
  incoming: IncomingMessage,
  answer: ServerResponse,
  port: number,
  path: string,
): void {
  // A proxy asks by the member's name, not by the one that the browser has for the proxy.
  const { host: _host, origin: _origin, ...headers } = incoming.headers;
  const { method } = incoming;
  const onward = request({ host: '127.0.0.1', port, path, method, headers }, (reply) => {
    answer.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(answer);
  });
  onward.on('error', () => answer.destroy());
  answer.on('close', () => onward.destroy());
  incoming.pipe(onward);
}
