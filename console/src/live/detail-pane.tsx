/**
 * The detail of what is chosen in a list: a heading, what can be done with it, and the button and
 * the key that close it. What is gone is said in its place.
 */
import type { ReactNode } from 'react';
import { statusOf } from '../api/problem.js';
import { useShortcuts } from '../keyboard/use-shortcuts.js';
import { Icon } from '../ui/icon.js';
import { Notice, ProblemNotice } from '../ui/notice.js';

export interface DetailPaneProps {
  readonly label: string;
  /** The heading of its key in the help. */
  readonly group: string;
  /** The heading, an `h2`. */
  readonly heading: ReactNode;
  readonly action: ReactNode;
  /** What the last question failed with; null if it did not. */
  readonly error: unknown;
  /** What to say if the server knows it no more. */
  readonly gone: string;
  readonly onRetry: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function DetailPane(props: DetailPaneProps) {
  const { label, group, heading, action, error, gone, onRetry, onClose, children } = props;
  useShortcuts([{ keys: 'Escape', title: 'Close the detail', group, run: onClose }]);
  return (
    <section className="view-detail" aria-label={label}>
      <header className="detail-head">
        {heading}
        {action}
        <button
          type="button"
          className="button button-quiet button-icon button-small"
          aria-label="Close the detail"
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      {isGone(error) ? (
        <Notice kind="warn">{gone}</Notice>
      ) : (
        <ProblemNotice error={error} onRetry={onRetry} />
      )}
      {children}
    </section>
  );
}

export function isGone(error: unknown): boolean {
  return statusOf(error) === 404;
}
