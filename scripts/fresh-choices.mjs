/**
 * Which tests keep the fixed seed when the others make fresh choices.
 *
 * Most of them take minutes for each seed, and the simulator makes their choices, too. Those in
 * `one-at-a-time/` let nothing run beside them; what they choose at random, garbage and the order of
 * members, other tests choose, too.
 */
export const KEEPS_SEED =
  /\/one-at-a-time\/|\/(chaos|disk-bound|mutants|caches|watch-replica|lease-chaos|moving\/mirror|soak|test-seed)\.test\.ts$/;
