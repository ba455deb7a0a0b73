/**
 * The explorer: the tree on the left, the znode that is open on the right.
 */
import { PageFrame } from '../layout/page-frame.js';

export function Page() {
  return <PageFrame title="Explorer">The tree of znodes.</PageFrame>;
}
