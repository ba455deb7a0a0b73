/**
 * Passes the leader's answers to the pipeline of the member whose client asked.
 *
 * It translates and keeps nothing. Called by the driver of that member.
 */
import { unreachable } from '@rookery/protocol';
import type { Pipeline } from '../pipeline/pipeline.js';
import type { Answer } from './confirmed-answers.js';

/** `nowMs` is the time of the turn. */
export function onAnswer(pipeline: Pipeline, answer: Answer, nowMs: number): void {
  switch (answer.kind) {
    case 'attached':
      return pipeline.onAttached(answer, nowMs);
    case 'detach':
      return pipeline.onDetach(answer);
    case 'synced':
      return pipeline.onSynced(answer, nowMs);
    default:
      unreachable(answer);
  }
}
