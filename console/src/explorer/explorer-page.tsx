/**
 * The explorer: the tree on the left, the znode that is open on the right.
 *
 * The path of the znode is in the address of the page, so a link leads to it. What is done to a
 * znode here is told to the tree, which reads the lists that it may have changed.
 */
import { useEffect, useState } from 'react';
import './explorer.css';
import { useConsole } from '../console-context.js';
import { useShortcuts } from '../keyboard/use-shortcuts.js';
import { useRoute } from '../router/use-route.js';
import { AddressBar } from './address/address-bar.js';
import { rememberVisit } from './address/places.js';
import { NodePane } from './node/node-pane.js';
import { Palette } from './palette.js';
import { wrongPath } from './paths.js';
import { LeftPane } from './search/left-pane.js';
import { Split } from './split.js';
import { TreeStore } from './tree/tree-store.js';

export function Page() {
  const { api } = useConsole();
  const { query } = useRoute();
  const asked = query.get('path') ?? '/';
  const path = wrongPath(asked) === null ? asked : '/';
  const [store, setStore] = useState<TreeStore | null>(null);
  const [isPaletteOpen, setIsPaletteOpen] = useState(false);
  useEffect(() => {
    const made = new TreeStore(api);
    setStore(made);
    return () => made.dispose();
  }, [api]);
  useEffect(() => {
    store?.reveal(path).catch(reportError);
    rememberVisit(path);
  }, [store, path]);
  useEffect(() => {
    document.title = `${path} · Rookery console`;
    return () => {
      document.title = 'Rookery console';
    };
  }, [path]);
  useShortcuts([
    {
      keys: 'Mod+k',
      title: 'Go anywhere, do anything',
      group: 'Explorer',
      run: () => setIsPaletteOpen(true),
    },
  ]);
  if (store === null) return null;
  return (
    <div className="explorer">
      <AddressBar path={path} />
      <Split
        name="explorer"
        left={<LeftPane store={store} path={path} />}
        right={<NodePane key={path} path={path} store={store} />}
      />
      {isPaletteOpen ? <Palette path={path} onClose={() => setIsPaletteOpen(false)} /> : null}
    </div>
  );
}
