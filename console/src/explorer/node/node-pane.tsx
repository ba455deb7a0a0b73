/**
 * The znode that is open: its name, what can be done with it, and its data, ACL and changes.
 */
import { type ReactNode, useEffect, useState } from 'react';
import './node.css';
import '../edit/edit.css';
import { statusOf } from '../../api/problem.js';
import type { NodeFacts } from '../../api/types.js';
import { useConsole } from '../../console-context.js';
import { useShortcuts } from '../../keyboard/use-shortcuts.js';
import { Notice, ProblemNotice } from '../../ui/notice.js';
import { AclTab } from '../acl/acl-tab.js';
import { ChildrenTab } from '../children/children-tab.js';
import { DataTab } from '../data/data-tab.js';
import { openNode } from '../open-node.js';
import { nameOf, parentOf, shown } from '../paths.js';
import type { TreeStore } from '../tree/tree-store.js';
import { WatchTab } from '../watch/watch-tab.js';
import { FactsView } from './facts-view.js';
import { NodeActions } from './node-actions.js';
import { type OpenNode, useNode } from './use-node.js';

type Tab = 'data' | 'children' | 'acl' | 'changes';

export interface NodePaneProps {
  readonly path: string;
  readonly store: TreeStore;
}

export function NodePane({ path, store }: NodePaneProps) {
  const { can } = useConsole();
  const node = useNode(path, () => {
    store.refresh(path, { unasked: true }).catch(reportError);
  });
  const [chosen, setTab] = useState<Tab | null>(null);
  const tab = chosen ?? firstTab(node.facts);
  // What happens to the znode later does not take away the tab that somebody looks at.
  useEffect(() => {
    if (node.facts !== null) setTab((before) => before ?? firstTab(node.facts));
  }, [node.facts]);
  const tabs: readonly { readonly id: Tab; readonly title: string; readonly key: string }[] = [
    { id: 'data', title: 'Data', key: '1' },
    { id: 'children', title: 'Children', key: '2' },
    { id: 'acl', title: 'ACL', key: '3' },
    ...(can('GET', '/watch') ? [{ id: 'changes', title: 'Changes', key: '4' } as const] : []),
  ];
  useShortcuts([
    ...tabs.map(({ id, title, key }) => ({
      keys: key,
      title: `Show ${title === 'ACL' ? 'the ACL' : `the ${title.toLowerCase()}`}`,
      group: 'Znode',
      run: () => setTab(id),
    })),
    {
      keys: 'r',
      title: 'Read it again',
      group: 'Znode',
      run: () => {
        node.reload().catch(reportError);
        store.refresh(path).catch(reportError);
      },
    },
  ]);
  return (
    <section className="node-pane" aria-label="Znode">
      <Head path={path} node={node} store={store} />
      <Problem path={path} node={node} store={store} />
      {node.facts === null ? null : (
        <div className="node-main">
          <div className="node-tabs">
            <div className="tabs" role="tablist" aria-label="Parts of the znode">
              {tabs.map(({ id, title, key }) => (
                <button
                  key={id}
                  type="button"
                  className="tab"
                  role="tab"
                  id={`tab-${id}`}
                  aria-selected={tab === id}
                  aria-controls="tab-panel"
                  title={`${title} (${key})`}
                  onClick={() => setTab(id)}
                >
                  {title}
                </button>
              ))}
            </div>
            <div
              id="tab-panel"
              className="tab-panel"
              role="tabpanel"
              aria-labelledby={`tab-${tab}`}
            >
              <Panel tab={tab} path={path} node={node} store={store} facts={node.facts} />
            </div>
          </div>
          <FactsView facts={node.facts} />
        </div>
      )}
    </section>
  );
}

/** The tab that opens first: of a directory without data, the children. */
function firstTab(facts: NodeFacts | null): Tab {
  if (facts === null) return 'data';
  return facts.stat.dataLength === 0 && facts.stat.numChildren > 0 ? 'children' : 'data';
}

interface PanelProps {
  readonly tab: Tab;
  readonly path: string;
  readonly node: OpenNode;
  readonly store: TreeStore;
  readonly facts: NodeFacts;
}

function Panel({ tab, path, node, store, facts }: PanelProps): ReactNode {
  const onChildren = (): void => {
    Promise.all([store.changed(path), node.reload()]).catch(reportError);
  };
  switch (tab) {
    case 'data':
      return <DataTab path={path} node={node} />;
    case 'children':
      return <ChildrenTab path={path} facts={facts} onChanged={onChildren} />;
    case 'acl':
      return <AclTab path={path} facts={facts} onChanged={node.reload} />;
    case 'changes':
      return <WatchTab path={path} />;
  }
}

interface HeadProps {
  readonly path: string;
  readonly node: OpenNode;
  readonly store: TreeStore;
}

function Head({ path, node, store }: HeadProps) {
  const { facts, isLive, changes } = node;
  return (
    <header className="node-head">
      <h1 className="node-name">{shown(nameOf(path))}</h1>
      {facts?.mode === 'ephemeral' ? <span className="badge badge-violet">ephemeral</span> : null}
      {facts?.mode === 'container' ? <span className="badge">container</span> : null}
      {facts?.mode === 'ttl' ? <span className="badge">ttl</span> : null}
      {isLive ? (
        // Each change starts the flash anew.
        <span key={changes} className={changes > 0 ? 'live is-flashing' : 'live'}>
          <span className="live-dot" />
          live
        </span>
      ) : null}
      <span className="bar-gap" />
      {facts === null ? null : <NodeActions path={path} facts={facts} node={node} store={store} />}
    </header>
  );
}

function Problem({ path, node, store }: HeadProps) {
  const { error, facts } = node;
  if (error === null) return null;
  const status = statusOf(error);
  if (status === 404) {
    return (
      <div className="node-problem">
        <Notice
          kind="warn"
          action={
            <button
              type="button"
              className="button button-small"
              onClick={() => {
                store.refresh(parentOf(path)).catch(reportError);
                openNode(parentOf(path));
              }}
            >
              Go to its parent
            </button>
          }
        >
          {facts === null ? 'There is no such znode.' : 'This znode has been deleted.'}
        </Notice>
      </div>
    );
  }
  if (status === 403) {
    return (
      <div className="node-problem">
        <Notice kind="warn">
          Its ACL does not let you read it. If you have another identity, add it under your name at
          the top.
        </Notice>
      </div>
    );
  }
  return (
    <div className="node-problem">
      <ProblemNotice error={error} onRetry={() => node.reload().catch(reportError)} />
    </div>
  );
}
