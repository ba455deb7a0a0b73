/**
 * The frame of a page: its title, what can be done with the whole page, and its content, which
 * scrolls.
 */
import type { ReactNode } from 'react';

export interface PageFrameProps {
  readonly title: string;
  readonly actions?: ReactNode;
  /** The content reaches the edges and scrolls by itself. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
}

export function PageFrame({ title, actions, isFlush = false, children }: PageFrameProps) {
  return (
    <div className="page">
      <header className="page-head">
        <h1>{title}</h1>
        <div className="page-actions">{actions}</div>
      </header>
      <div className={isFlush ? 'page-body page-body-flush' : 'page-body'}>{children}</div>
    </div>
  );
}
