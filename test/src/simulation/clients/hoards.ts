/**
 * The work of a client that owns many ephemerals and watches many paths, so that its end takes many
 * transactions, of which others are notified, and during which others change what is being deleted.
 *
 * Paths are `/e/<client>-h<n>`: ephemerals of that client, or whatever another client created
 * there.
 */
import type { MultiPart } from '../contract/history.js';
import type { Scene } from './works.js';

const HOARDED = 24;
const AT_ONCE_MAX = 12;
const WATCHED_MAX = 6;
const ANY_VERSION = -1;

export function hoards(scene: Scene): void {
  const { random, client, options } = scene;
  const other = 1 + random.below(options.count);
  const dice = random.next();
  const path = pathOf(random.chance(0.5) ? client : other, random.below(HOARDED));
  if (dice < 0.4) return hoard(scene);
  if (dice < 0.5) scene.push({ kind: 'delete', path, version: ANY_VERSION });
  else if (dice < 0.55) {
    scene.push({ kind: 'create', path, data: scene.text(), mode: 'persistent' });
  } else if (dice < 0.6) {
    scene.push({ kind: 'set', path, data: scene.text(), version: ANY_VERSION });
  } else if (dice < 0.9) {
    const first = random.below(HOARDED);
    for (let at = 0; at < WATCHED_MAX; at++) {
      const watched = pathOf(other, (first + at) % HOARDED);
      scene.push({ kind: random.chance(0.5) ? 'get' : 'exists', path: watched, watch: true });
    }
  } else scene.push({ kind: 'children', path: '/e', watch: random.chance(0.5) });
}

/** Creates all of them or, if one exists, none. */
function hoard(scene: Scene): void {
  const { random, client } = scene;
  const first = random.below(HOARDED);
  const parts = Array.from({ length: 1 + random.below(AT_ONCE_MAX) }, (_, at): MultiPart => {
    const path = pathOf(client, (first + at) % HOARDED);
    return { kind: 'create', path, data: scene.text(), mode: 'ephemeral' };
  });
  scene.push({ kind: 'multi', parts });
}

function pathOf(client: number, number: number): string {
  return `/e/${client}-h${number}`;
}
