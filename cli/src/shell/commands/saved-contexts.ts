/** `context ...` manages named ensembles with the credentials for them. */
import { resolve } from 'node:path';
import { OperatorError } from '@rookery/server';
import { addressesOf } from '../../command/addresses.js';
import {
  credentialOf,
  readCredentials,
  readTls,
  type TlsPaths,
  tlsOfEnvironment,
  tlsOfOptions,
} from '../../command/client-proofs.js';
import type { Call } from '../../command/command.js';
import { Contexts } from '../../command/contexts.js';

export async function listContexts(call: Call): Promise<undefined> {
  const contexts = new Contexts(call.around.environment);
  const selected = contexts.selected();
  const rows = contexts.names().map((name) => {
    const { connect, auth } = contexts.load(name);
    return { name, selected: name === selected, connect, credentials: auth.length };
  });
  await call.output.table(rows, {
    head: ['', 'name', 'connect', 'credentials'],
    json: (row) => row,
    cells: ({ name, connect, credentials, selected: isSelected }) => [
      ...[isSelected ? '*' : '', name, connect, String(credentials)],
    ],
    raw: ({ name }) => name,
  });
}

export async function saveContext(call: Call): Promise<undefined> {
  const name = call.arg(0) ?? '';
  const connect = call.text('connect');
  if (connect === undefined) throw new OperatorError('Give --connect host:port,...');
  addressesOf(connect);
  const file = call.text('authFile');
  const environment = call.around.environment['ROOKERY_AUTH'] ?? '';
  const text = file === undefined ? environment : await credentials(call, file);
  const auth = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  for (const line of auth) credentialOf(line);
  const contexts = new Contexts(call.around.environment);
  const tls = savedTls(call);
  contexts.save(name, { connect, auth, ...(tls === null ? {} : { tls }) });
  if (contexts.names().length === 1) contexts.select(name);
  await call.output.value({ name, connect, credentials: auth.length }, () => '');
  await call.output.talk(`Saved the context ${name}.`);
}

/** With absolute paths, as a context is used in any directory. Throws if a file cannot be used. */
function savedTls(call: Call): TlsPaths | null {
  const [ca, cert, key] = ['tlsCa', 'tlsCert', 'tlsKey'].map((name) => call.text(name));
  const options = { tls: call.flag('tls'), tlsCa: ca, tlsCert: cert, tlsKey: key };
  const given = tlsOfOptions(options) ?? tlsOfEnvironment(call.around.environment);
  if (given === null) return null;
  readTls(given);
  const paths = Object.entries(given).filter(([, path]) => path !== undefined);
  return Object.fromEntries(paths.map(([name, path]) => [name, resolve(path ?? '')]));
}

async function credentials(call: Call, file: string): Promise<string> {
  return file === '-' ? (await call.around.readInput()).toString() : readCredentials(file);
}

export async function selectContext(call: Call): Promise<undefined> {
  const name = call.arg(0) ?? '';
  new Contexts(call.around.environment).select(name);
  await call.output.value({ name }, () => '');
  await call.output.talk(`The context is ${name} now.`);
}

export async function removeContext(call: Call): Promise<undefined> {
  const name = call.arg(0) ?? '';
  new Contexts(call.around.environment).remove(name);
  await call.output.value({ name }, () => '');
  await call.output.talk(`Removed the context ${name}.`);
}
