/** The two ends of a mirror: views in which the mirrored subtree is `/`. */
import type { Client } from '@rookery/client';
import type { OwnAccess } from '../znodes/own-access.js';

export interface Ends {
  readonly source: Client;
  readonly target: Client;
}

/** With what the mirror may do at the target; its paths are those of the whole ensemble. */
export interface WritableEnds extends Ends {
  readonly access: OwnAccess;
}
