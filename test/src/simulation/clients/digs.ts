/**
 * The work of a client that requests much at once: paths as deep as members allow and deeper, and
 * multis of as many operations as they allow and more. What is refused has no effect.
 *
 * Paths are `/m/d`, `/m/d/d` and so on, one chain for all clients, who create, change, watch and
 * delete its znodes.
 */
import type { MultiPart } from '../contract/history.js';
import type { Scene } from './works.js';

/** More segments, and more operations, than the plans of a run that bounds them allow. */
const SEGMENTS_MAX = 14;
const OPERATIONS_MAX = 14;
const ANY_VERSION = -1;

export function digs(scene: Scene): void {
  const { random } = scene;
  const dice = random.next();
  const path = pathOf(1 + random.below(SEGMENTS_MAX));
  if (dice < 0.3) return dig(scene);
  if (dice < 0.4) return setAgainAndAgain(scene, path);
  if (dice < 0.55) {
    scene.push({ kind: 'create', path, data: scene.text(), mode: 'persistent' });
  } else if (dice < 0.7) {
    scene.push({ kind: 'set', path, data: scene.text(), version: ANY_VERSION });
  } else if (dice < 0.8) scene.push({ kind: 'delete', path, version: ANY_VERSION });
  else if (dice < 0.9) scene.push({ kind: 'addWatch', path, mode: 'recursive' });
  else scene.push({ kind: 'get', path, watch: random.chance(0.5) });
}

/** Adds some segments at once, mostly from the top. */
function dig(scene: Scene): void {
  const { random } = scene;
  const first = random.chance(0.6) ? 1 : 1 + random.below(SEGMENTS_MAX);
  const parts = Array.from({ length: 1 + random.below(OPERATIONS_MAX) }, (_, at): MultiPart => {
    return { kind: 'create', path: pathOf(first + at), data: scene.text(), mode: 'persistent' };
  });
  scene.push({ kind: 'multi', parts });
}

function setAgainAndAgain(scene: Scene, path: string): void {
  const count = 1 + scene.random.below(OPERATIONS_MAX);
  const parts = Array.from({ length: count }, (): MultiPart => {
    return { kind: 'set', path, data: scene.text(), version: ANY_VERSION };
  });
  scene.push({ kind: 'multi', parts });
}

function pathOf(segments: number): string {
  return `/m${'/d'.repeat(segments)}`;
}
