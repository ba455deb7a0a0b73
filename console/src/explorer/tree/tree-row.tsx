/**
 * One row of the tree: a znode, one that is not loaded yet, or what went wrong with loading.
 */
import { memo } from 'react';
import { sentenceOf } from '../../api/problem.js';
import type { ChildFacts } from '../../api/types.js';
import { Icon, type IconName } from '../../ui/icon.js';
import { openNode } from '../open-node.js';
import { shown } from '../paths.js';
import { counted, numberInWords } from '../words.js';
import type { Row } from './tree-model.js';
import type { TreeStore } from './tree-store.js';

const INDENT = 16;

export interface TreeRowProps {
  readonly row: Row | null;
  readonly top: number;
  readonly store: TreeStore;
  /** Whether the keyboard's cursor is on it. */
  readonly isActive: boolean;
  /** Whether its znode is open. */
  readonly isSelected: boolean;
}

/** The id of the row's element, for the one that the keyboard is at. */
export function rowId(path: string): string {
  return `row-${encodeURIComponent(path)}`;
}

export function TreeRow(props: TreeRowProps) {
  const { row, top } = props;
  const place = { transform: `translateY(${top}px)` };
  if (row === null) return null;
  if (row.kind === 'node') return <NodeRow {...props} {...row} />;
  const indent = { ...place, paddingLeft: 8 + row.depth * INDENT };
  if (row.kind === 'pending') {
    return (
      <div className="tree-row tree-pending" style={indent} aria-hidden="true">
        <span className="tree-bone" />
      </div>
    );
  }
  return (
    <div className="tree-row tree-problem" style={indent} role="alert">
      <Icon name="warning" />
      <span className="tree-name">{sentenceOf(row.problem)}</span>
      <button
        type="button"
        className="button button-small"
        onClick={() => props.store.retry(row.directory).catch(reportError)}
      >
        Try again
      </button>
    </div>
  );
}

type NodeRowProps = TreeRowProps & Extract<Row, { readonly kind: 'node' }>;

const NodeRow = memo(function NodeRow(props: NodeRowProps) {
  const { path, facts, depth, isOpen, place, siblings, top, isActive, isSelected, store } = props;
  const children = facts.stat?.numChildren ?? 0;
  const canOpen = path === '/' || children > 0;
  const toggle = (): void => {
    if (isOpen) store.close(path);
    else store.open(path).catch(reportError);
  };
  const classes = ['tree-row', isActive ? 'is-active' : '', isSelected ? 'is-selected' : ''];
  return (
    // The tree has the keyboard, and moves over its rows.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above
    // biome-ignore lint/a11y/useFocusableInteractive: see above
    <div
      id={rowId(path)}
      className={classes.join(' ').trim()}
      role="treeitem"
      aria-level={depth + 1}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-expanded={canOpen ? isOpen : undefined}
      aria-selected={isSelected}
      style={{ transform: `translateY(${top}px)`, paddingLeft: 4 + depth * INDENT }}
      onClick={() => openNode(path)}
      onDoubleClick={canOpen ? toggle : undefined}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: ArrowRight does the same */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: ArrowRight does the same */}
      <span
        className={canOpen && path !== '/' ? 'tree-twisty' : 'tree-twisty is-hidden'}
        onClick={(event) => {
          event.stopPropagation();
          if (canOpen && path !== '/') toggle();
        }}
      >
        <Icon name={isOpen ? 'down' : 'right'} />
      </span>
      <ModeIcon facts={facts} isRoot={path === '/'} />
      <span className="tree-name">{shown(facts.name)}</span>
      {children > 0 ? (
        <span className="tree-count" title={counted(children, 'child', 'children')}>
          {numberInWords(children)}
        </span>
      ) : null}
    </div>
  );
});

function ModeIcon({ facts, isRoot }: { readonly facts: ChildFacts; readonly isRoot: boolean }) {
  const { icon, title, tone } = iconOf(facts, isRoot);
  return (
    <span className={`tree-icon ${tone}`} title={title}>
      <Icon name={icon} />
    </span>
  );
}

function iconOf(
  { mode, stat }: ChildFacts,
  isRoot: boolean,
): { readonly icon: IconName; readonly title: string; readonly tone: string } {
  if (isRoot) return { icon: 'tree', title: 'The root', tone: '' };
  if (stat === null) return { icon: 'lock', title: 'You may not read it', tone: 'is-locked' };
  if (mode === 'ephemeral') return { icon: 'bolt', title: 'Ephemeral', tone: 'is-ephemeral' };
  if (mode === 'container') return { icon: 'box', title: 'Container', tone: '' };
  if (mode === 'ttl') return { icon: 'clock', title: 'With a time to live', tone: '' };
  if (stat.numChildren > 0) return { icon: 'folder', title: 'Persistent', tone: '' };
  return { icon: 'file', title: 'Persistent, without children', tone: '' };
}
