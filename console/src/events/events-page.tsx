/**
 * The page "Events".
 */
import { PageFrame } from '../layout/page-frame.js';

export function Page() {
  return <PageFrame title="Events">What happened at the members, newest first.</PageFrame>;
}
