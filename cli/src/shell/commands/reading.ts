/** `get`, `stat` and `exists` read one znode. */
import { NoNodeError } from '@rookery/client';
import { type Call, EXIT } from '../../command/command.js';
import { dataForTerminal, dataJson, statJson, statText } from '../../command/values.js';

/** Writes bytes as they are, unless they would corrupt the terminal on which they are written. */
export async function get(call: Call): Promise<undefined> {
  const { output, signal } = call;
  const client = await call.client();
  const path = call.path(0);
  const { data, stat: found } = await client.getData(path, { signal });
  const bytes = data ?? Buffer.alloc(0);
  if (call.format === 'raw') {
    if (!output.isTerminal) {
      await output.bytes(bytes);
      return;
    }
    const shown = dataForTerminal(bytes);
    await output.value(null, () => shown);
    return;
  }
  const json = { path, ...dataJson(data), stat: statJson(found) };
  await output.value(json, () => `${statText(found)}\n\n${dataForTerminal(bytes)}`);
}

export async function stat(call: Call): Promise<undefined> {
  const client = await call.client();
  const path = call.path(0);
  const found = await client.exists(path, { signal: call.signal });
  if (found === null) throw new NoNodeError(path);
  await call.output.value({ path, ...statJson(found) }, () => statText(found));
}

export async function exists(call: Call): Promise<number> {
  const client = await call.client();
  const path = call.path(0);
  const isThere = (await client.exists(path, { signal: call.signal })) !== null;
  await call.output.value({ path, exists: isThere }, () => String(isThere));
  return isThere ? EXIT.done : EXIT.no;
}
