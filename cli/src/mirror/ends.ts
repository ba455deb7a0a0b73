/** The two ends of a mirror: views in which the mirrored subtree is `/`. */
import type { Client } from '@rookery/client';

export interface Ends {
  readonly source: Client;
  readonly target: Client;
}
