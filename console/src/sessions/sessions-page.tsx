/**
 * The page "Sessions".
 */
import { PageFrame } from '../layout/page-frame.js';

export function Page() {
  return (
    <PageFrame title="Sessions">
      The sessions of the ensemble, what they own and what they watch.
    </PageFrame>
  );
}
