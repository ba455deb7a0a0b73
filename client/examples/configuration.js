/**
 * Configuration: a typed value that every process sees change.
 *
 *   node configuration.js 127.0.0.1:2181                                 in any number of terminals
 *   node configuration.js 127.0.0.1:2181 set '{"colour":"blue"}'         in one more
 *
 * The former print the value now and after each change, until Ctrl-C; the latter merges its
 * argument into it, however many others do so at the same time. What is no JSON object is reported,
 * and the last good value stays in force.
 */
import { Configuration } from '@rookery/client';
import { run } from './frame.js';

await run(async (zk, signal, [command = 'follow', text = '{}']) => {
  const settings = new Configuration(zk, '/examples/settings', {
    parse: (data) => parseSettings(String(data)),
    format: (value) => JSON.stringify(value),
  });
  try {
    if (command === 'set') {
      const change = parseSettings(text);
      const value = await settings.update((present) => ({ ...present, ...change }), { signal });
      console.log('written:', JSON.stringify(value));
      return;
    }
    for await (const state of settings.states({ signal })) {
      if (state.kind === 'valid') console.log('value:', JSON.stringify(state.value));
      if (state.kind === 'invalid') console.log('ignored:', String(state.error));
      if (state.kind === 'missing') console.log('nothing there yet');
    }
  } finally {
    await settings.close();
  }
});

/**
 * @param {string} json
 * @returns {Record<string, unknown>}
 */
function parseSettings(json) {
  const value = JSON.parse(json);
  if (typeof value !== 'object' || value === null) throw new Error('not a JSON object');
  return value;
}
