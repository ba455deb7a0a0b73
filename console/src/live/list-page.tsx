/**
 * The frame of a page that is a list, with the detail of what is chosen in it beside the list.
 */
import type { ReactNode } from 'react';
import { PageFrame } from '../layout/page-frame.js';
import { NowProvider } from './now.js';
import './views.css';

export interface ListPageProps {
  readonly title: string;
  /** Filters and buttons, beside the title. */
  readonly actions: ReactNode;
  /** Notices above the list. */
  readonly notes: ReactNode;
  /** Null if nothing is chosen: then the list has the whole width. */
  readonly detail: ReactNode;
  readonly children: ReactNode;
}

export function ListPage({ title, actions, notes, detail, children }: ListPageProps) {
  return (
    <NowProvider>
      <PageFrame title={title} actions={<div className="view-filters">{actions}</div>} isFlush>
        <div className="view">
          <div className="view-notes">{notes}</div>
          <div className="view-split" data-alone={detail === null ? '' : undefined}>
            <div className="view-list">{children}</div>
            {detail}
          </div>
        </div>
      </PageFrame>
    </NowProvider>
  );
}
