/**
 * What can be done with the znode that is open, as buttons and keys. What the server does not let
 * this person do at all is not there.
 */
import { useRef, useState } from 'react';
import type { NodeFacts } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { useShortcuts } from '../../keyboard/use-shortcuts.js';
import { Icon, type IconName } from '../../ui/icon.js';
import { openNode } from '../open-node.js';
import { isFixed, parentOf } from '../paths.js';
import { CreateDialog } from '../subtree/create-dialog.js';
import { ExportDialog } from '../subtree/export-dialog.js';
import { CopyDialog, DeleteDialog, ImportDialog } from '../subtree/subtree-dialogs.js';
import type { TreeStore } from '../tree/tree-store.js';
import type { OpenNode } from './use-node.js';

type Act = 'create' | 'copy' | 'move' | 'delete' | 'export' | 'import';

interface Offered {
  readonly act: Act;
  readonly title: string;
  readonly keys: string;
  readonly icon: IconName;
  readonly isAllowed: boolean;
}

export interface NodeActionsProps {
  readonly path: string;
  readonly facts: NodeFacts;
  readonly node: OpenNode;
  readonly store: TreeStore;
}

export function NodeActions({ path, facts, node, store }: NodeActionsProps) {
  const [act, setAct] = useState<Act | null>(null);
  const offered = useOffered(path, facts);
  const next = useRef(path);
  const close = (): void => {
    setAct(null);
    if (next.current !== path) openNode(next.current);
  };
  // What came of it stays to be seen until the person closes the dialog.
  const onChanged = (open: string): void => {
    next.current = open;
    Promise.all([store.changed(path), store.changed(open), node.reload()]).catch(reportError);
  };
  useShortcuts(
    offered.map(({ act: one, title, keys, isAllowed }) => ({
      keys,
      title,
      group: 'Znode',
      run: () => {
        if (isAllowed) setAct(one);
      },
    })),
  );
  return (
    <>
      <div className="node-actions">
        {offered.map((one) => (
          <button
            key={one.act}
            type="button"
            className="button button-quiet button-small"
            disabled={!one.isAllowed}
            title={`${one.title} (${one.keys})`}
            onClick={() => setAct(one.act)}
          >
            <Icon name={one.icon} />
            <span>{WORDS[one.act]}</span>
          </button>
        ))}
      </div>
      {act === 'create' ? (
        <CreateDialog
          parent={path}
          parentAcl={facts.acl}
          onClose={close}
          onCreated={(made) => {
            setAct(null);
            store
              .refresh(path)
              .then(() => store.open(path))
              .then(() => openNode(made))
              .catch(reportError);
          }}
        />
      ) : null}
      {act === 'delete' ? (
        <DeleteDialog paths={[path]} onClose={close} onRan={() => onChanged(parentOf(path))} />
      ) : null}
      {act === 'copy' || act === 'move' ? (
        <CopyDialog path={path} onChanged={onChanged} onClose={close} moves={act === 'move'} />
      ) : null}
      {act === 'import' ? <ImportDialog path={path} onChanged={onChanged} onClose={close} /> : null}
      {act === 'export' ? <ExportDialog path={path} onClose={close} /> : null}
    </>
  );
}

const WORDS: Readonly<Record<Act, string>> = {
  create: 'New',
  copy: 'Copy',
  move: 'Move',
  delete: 'Delete',
  export: 'Export',
  import: 'Import',
};

function useOffered(path: string, { may, mode }: NodeFacts): readonly Offered[] {
  const { can } = useConsole();
  const isMovable = !isFixed(path);
  const canCreate = can('POST', '/node');
  const canDelete = can('DELETE', '/node');
  const mayCreate = may.create && mode !== 'ephemeral';
  const all: readonly (Offered & { readonly isPossible: boolean })[] = [
    {
      act: 'create',
      title: 'New znode below this one',
      keys: 'n',
      icon: 'plus',
      isPossible: canCreate,
      isAllowed: mayCreate,
    },
    {
      act: 'copy',
      title: 'Copy it with everything below',
      keys: 'c',
      icon: 'copy',
      isPossible: canCreate,
      isAllowed: isMovable,
    },
    {
      act: 'move',
      title: 'Move it with everything below',
      keys: 'm',
      icon: 'move',
      isPossible: canCreate && canDelete,
      isAllowed: isMovable,
    },
    {
      act: 'delete',
      title: 'Delete it with everything below',
      keys: 'd',
      icon: 'trash',
      isPossible: canDelete,
      isAllowed: isMovable,
    },
    {
      act: 'export',
      title: 'Export it into a file',
      keys: 'x',
      icon: 'download',
      isPossible: true,
      isAllowed: true,
    },
    {
      act: 'import',
      title: 'Import a file below it',
      keys: 'i',
      icon: 'upload',
      isPossible: canCreate,
      isAllowed: mayCreate,
    },
  ];
  return all.filter(({ isPossible }) => isPossible);
}
