/**
 * The identities of a client as a field of a forwarded request.
 *
 * Every write carries them, and nearly all clients are known by their address alone: that is one
 * string. Otherwise a flat list of scheme, id, scheme, id.
 */
import { MarshallingError } from '../marshalling-error.js';
import { asArray, type Field, text } from './fields.js';
import type { Identity } from './messages.js';

const ADDRESS_SCHEME = 'ip';

export const identities: Field<readonly Identity[]> = {
  pack: (values) => {
    const [first] = values;
    if (values.length === 1 && first?.scheme === ADDRESS_SCHEME) return text.pack(first.id);
    return values.flatMap(({ scheme, id }) => [text.pack(scheme), text.pack(id)]);
  },
  unpack: (packed) => {
    if (typeof packed === 'string') return [{ scheme: ADDRESS_SCHEME, id: packed }];
    const words = asArray(packed);
    if (words.length % 2 !== 0) throw new MarshallingError('an identity without an id');
    const values: Identity[] = [];
    for (let index = 0; index < words.length; index += 2) {
      values.push({ scheme: text.unpack(words[index]), id: text.unpack(words[index + 1]) });
    }
    return values;
  },
};
