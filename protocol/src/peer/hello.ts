/**
 * How the offer of a hello is written: by name, so that it grows without a new wire version.
 *
 * A new field is added here and to `HelloOffer`, with the value that it has when a member of an
 * earlier release does not send it. Each is judged when it is read: a type, a length or a range
 * that no member sends is refused as garbage. Apart from the types of messages, which programs
 * that never encode one refer to.
 */
import type { HelloOffer, StartOf } from './admission-messages.js';
import { type Field, list, named, natural, pair, shortText, struct, uint } from './fields.js';

const RELEASE_CHARACTERS_MAX = 100;
const NAME_CHARACTERS_MAX = 100;
/** The longest text of a shared setting; a member with a longer one sends a digest of its end. */
export const SHARED_CHARACTERS_MAX = 1000;
const VERSION_MAX = 1_000_000;
const version = natural(VERSION_MAX);

const id = shortText(NAME_CHARACTERS_MAX);
const start = struct<StartOf>({ incarnation: id, count: uint, instance: id });
const NO_START: StartOf = { incarnation: '', count: 0, instance: '' };

export const helloOffer: Field<HelloOffer> = named<HelloOffer>(
  {
    wireMin: version,
    release: shortText(RELEASE_CHARACTERS_MAX),
    level: version,
    levelMax: version,
    levelAgreed: version,
    treeBytes: uint,
    shared: list(pair(shortText(NAME_CHARACTERS_MAX), shortText(SHARED_CHARACTERS_MAX))),
    start,
    earlierStarts: list(id),
    lastSeen: start,
  },
  {
    wireMin: 0,
    release: 'unknown',
    level: 1,
    levelMax: 1,
    levelAgreed: 1,
    treeBytes: 0,
    shared: [],
    start: NO_START,
    earlierStarts: [],
    lastSeen: NO_START,
  },
);
