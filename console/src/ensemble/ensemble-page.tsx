/**
 * The page "Ensemble".
 */
import { PageFrame } from '../layout/page-frame.js';

export function Page() {
  return (
    <PageFrame title="Ensemble">The members, their roles and how far each has come.</PageFrame>
  );
}
