/**
 * `rookery health` asks a member's probe and exits with its verdict, for exec probes and scripts.
 *
 * The address comes from the config file and the id, as for `rookery server`, or is given. It
 * prints each check. Exit code 0: the probe passes; 1: it fails, or there is no answer; 2: a
 * mistake of the caller.
 */
import { get } from 'node:http';
import { addressText, errorMessage } from '@rookery/protocol';
import {
  type Config,
  isEveryAddress,
  loadConfig,
  metricsHostOf,
  OperatorError,
} from '@rookery/server';
import { httpUrl } from '../http/http.js';
import { visible } from '../terminal/visible-text.js';

interface HealthCommand {
  readonly config?: string;
  readonly id?: number;
  readonly url?: string;
  readonly live: boolean;
  readonly exclude?: string;
  readonly timeoutMs: number;
}

/** An answer has a few lines; anything longer does not come from a member. */
const BODY_CHARACTERS_MAX = 64 << 10;

/** Resolves with the exit code. */
export async function runHealth(command: HealthCommand): Promise<number> {
  const url = urlOf(command);
  try {
    const { status, text } = await ask(url, command.timeoutMs);
    process.stdout.write(visible(text));
    return status === 200 ? 0 : 1;
  } catch (error) {
    const reason = errorMessage(error);
    process.stdout.write(visible(`[-]${url.host} failed: ${reason}\n`));
    return 1;
  }
}

/** Returns the address; throws OperatorError if there is none. */
export function urlOf(command: HealthCommand): URL {
  const url = new URL(command.live ? '/livez' : '/readyz', baseOf(command));
  url.searchParams.set('verbose', '');
  if (command.exclude !== undefined) url.searchParams.set('exclude', command.exclude);
  return url;
}

function baseOf({ config, id, url }: HealthCommand): string {
  if (url !== undefined) {
    if (config !== undefined || id !== undefined) {
      throw new OperatorError('--url already determines what --config and --id would');
    }
    httpUrl(url);
    return url;
  }
  if (config === undefined || id === undefined) {
    throw new OperatorError('give --config and --id, or --url');
  }
  return addressIn(loadConfig(config, id), id);
}

function addressIn(config: Config, id: number): string {
  const server = config.servers.find((one) => one.id === id);
  const { metricsPort, adminPort } = server ?? {};
  if (server !== undefined && metricsPort !== undefined) {
    return httpAddress(metricsHostOf(config, server), metricsPort);
  }
  if (adminPort !== undefined) return httpAddress(config.adminHost, adminPort);
  throw new OperatorError(`server ${id} has neither a metricsPort nor an adminPort to ask`);
}

function httpAddress(host: string, port: number): string {
  return `http://${addressText(isEveryAddress(host) ? 'localhost' : host, port)}`;
}

function ask(url: URL, timeoutMs: number): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > BODY_CHARACTERS_MAX) request.destroy(new Error('the answer is too long'));
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    const late = setTimeout(() => {
      request.destroy(new Error(`no answer in ${timeoutMs} ms`));
    }, timeoutMs);
    request.on('error', reject);
    request.on('close', () => clearTimeout(late));
  });
}
