/** Chooses the servers that a command without a session asks one by one, such as check and top. */
import { OperatorError } from '@rookery/server';
import { addressesIn, addressesOf, type NamedAddress } from './addresses.js';
import type { Call } from './command.js';
import { targetOf } from './target.js';

/**
 * Returns the servers that `--config`, `--connect` or `--context` of a command names; without any,
 * those of the shell in which it runs, of the selected context, or the default. Throws
 * OperatorError.
 */
export function serversFor(call: Call): readonly NamedAddress[] {
  const [config, connect, context] = [
    call.text('config'),
    call.text('connect'),
    call.text('context'),
  ];
  if (config !== undefined) {
    if (connect === undefined && context === undefined) return addressesIn(config);
    throw new OperatorError('Give --config, or --connect host:port,..., not both.');
  }
  const isNamed = connect !== undefined || context !== undefined;
  if (!isNamed) return addressesOf(call.around.connect(), call.around.tls());
  const options = { connect, context, timeoutMs: 1, readOnly: false };
  const target = targetOf(options, call.around.environment);
  return addressesOf(target.connect, target.tls);
}
