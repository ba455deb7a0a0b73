/**
 * The page "Recipes".
 */
import { PageFrame } from '../layout/page-frame.js';

export function Page() {
  return (
    <PageFrame title="Recipes">
      Every lock, election, semaphore, queue and barrier below a path.
    </PageFrame>
  );
}
