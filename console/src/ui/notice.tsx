/**
 * A sentence that the person has to see: a refusal, a warning, or that something went well.
 */
import type { ReactNode } from 'react';
import { sentenceOf } from '../api/problem.js';

export type NoticeKind = 'bad' | 'warn' | 'good' | 'plain';

export interface NoticeProps {
  readonly kind: NoticeKind;
  readonly children: ReactNode;
  /** What can be done about it, such as a button. */
  readonly action?: ReactNode;
}

export function Notice({ kind, children, action }: NoticeProps) {
  return (
    <div className={`notice notice-${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      <div>{children}</div>
      {action}
    </div>
  );
}

/**
 * Whatever was thrown, or a sentence that says what is wrong; nothing for null. `onRetry` offers to
 * do it again.
 */
export function ProblemNotice(props: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { error, onRetry } = props;
  if (error === null) return null;
  const retry =
    onRetry === undefined ? null : (
      <button type="button" className="button button-small" onClick={onRetry}>
        Try again
      </button>
    );
  return (
    <Notice kind="bad" action={retry}>
      {sentenceOf(error)}
    </Notice>
  );
}
