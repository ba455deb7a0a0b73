/**
 * Hands what the leader answered to the pipeline of the member whose client asked.
 *
 * Owns nothing but the translation. Called by the driver, at the origin.
 */
import { unreachable } from '@rookery/protocol';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { Answer } from './leader-desk.js';

export function onAnswer(pipeline: Pipeline, answer: Answer): void {
  switch (answer.kind) {
    case 'attached':
      return pipeline.onAttached(answer.request, answer.valid, answer.timeoutMs);
    case 'detach':
      return pipeline.onDetach(answer);
    case 'synced':
      return pipeline.onSynced(answer.request, answer.zxid);
    default:
      unreachable(answer);
  }
}
