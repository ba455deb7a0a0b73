/**
 * The page "Recipes": every lock, election, semaphore, queue, barrier and group below a path, with
 * who has it and how many wait, and one of them in detail.
 */
import { useMemo, useRef, useState } from 'react';
import { useConsole } from '../console-context.js';
import { useShortcuts } from '../keyboard/use-shortcuts.js';
import { onFilterKeys, onListKeys } from '../live/list-keys.js';
import { NowProvider } from '../live/now.js';
import '../live/views.css';
import { PageFrame } from '../layout/page-frame.js';
import { goTo, useRoute } from '../router/use-route.js';
import { Icon } from '../ui/icon.js';
import { Notice, ProblemNotice } from '../ui/notice.js';
import { KINDS, nameOf, type Recipe, type RecipeKind } from './recipe.js';
import { RecipeDetail } from './recipe-detail.js';
import { RecipeRow } from './recipe-row.js';
import './recipes.css';
import { useRecipes } from './use-recipes.js';

export function Page() {
  const { api } = useConsole();
  const { query } = useRoute();
  const path = query.get('below') ?? '/';
  const selected = query.get('path');
  const kind = kindIn(query.get('kind'));
  const [text, setText] = useState('');
  const filter = useRef<HTMLInputElement>(null);
  const { recipes, isComplete, cut, error, refresh } = useRecipes(api, path);
  const shown = useMemo(() => recipes.filter(matching(kind, text)), [recipes, kind, text]);
  const show = (more: Readonly<Record<string, string | null>>) =>
    goTo('recipes', { below: path === '/' ? null : path, kind, path: selected, ...more });
  useShortcuts([
    { keys: '/', title: 'Filter', group: 'Recipes', run: () => filter.current?.focus() },
    { keys: 'r', title: 'Search again', group: 'Recipes', run: refresh },
  ]);
  const actions = (
    <div className="view-filters">
      <Kinds recipes={recipes} kind={kind} onKind={(next) => show({ kind: next })} />
      <input
        ref={filter}
        className="input"
        type="search"
        placeholder="Filter by path, holder or address"
        aria-label="Filter"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onFilterKeys}
      />
      <button
        type="button"
        className="button button-icon"
        aria-label="Search again"
        title="Search again (r)"
        onClick={refresh}
      >
        <Icon name="refresh" />
      </button>
    </div>
  );
  return (
    <NowProvider>
      <PageFrame title="Recipes" actions={actions} isFlush>
        <div className="view">
          <div>
            {error === null ? null : (
              <div className="view-note">
                <ProblemNotice error={error} onRetry={refresh} />
              </div>
            )}
            {cut === null ? null : (
              <div className="view-note">
                <Notice kind="warn">Not everything was searched: {cut}</Notice>
              </div>
            )}
          </div>
          <div className="view-split" data-alone={selected === null ? '' : undefined}>
            <div className="view-list">
              <ul className="row-list" aria-label="Recipes" onKeyDown={onListKeys}>
                {shown.map((recipe) => (
                  <RecipeRow
                    key={recipe.path}
                    recipe={recipe}
                    isSelected={recipe.path === selected}
                  />
                ))}
              </ul>
              {shown.length > 0 ? null : (
                <Nothing isComplete={isComplete} isFiltered={recipes.length > 0} />
              )}
            </div>
            {selected === null ? null : (
              <RecipeDetail key={selected} path={selected} onClose={() => show({ path: null })} />
            )}
          </div>
        </div>
      </PageFrame>
    </NowProvider>
  );
}

function kindIn(text: string | null): RecipeKind | null {
  return Object.keys(KINDS).includes(text ?? '') ? (text as RecipeKind) : null;
}

function matching(kind: RecipeKind | null, text: string): (recipe: Recipe) => boolean {
  const wanted = text.trim().toLowerCase();
  return (recipe) => {
    if (kind !== null && recipe.kind !== kind) return false;
    if (wanted === '') return true;
    const all = [...recipe.holders, ...recipe.waiters];
    const texts = all.flatMap((one) => [nameOf(one), one.address ?? '', one.session ?? '']);
    return [recipe.path, ...texts].some((one) => one.toLowerCase().includes(wanted));
  };
}

interface KindsProps {
  readonly recipes: readonly Recipe[];
  readonly kind: RecipeKind | null;
  readonly onKind: (kind: RecipeKind | null) => void;
}

function Kinds({ recipes, kind, onKind }: KindsProps) {
  const counts = new Map<RecipeKind, number>();
  for (const one of recipes) counts.set(one.kind, (counts.get(one.kind) ?? 0) + 1);
  const present = (Object.keys(KINDS) as RecipeKind[]).filter(
    (one) => counts.has(one) || one === kind,
  );
  const chips = [
    { of: null, title: 'All', count: recipes.length },
    ...present.map((of) => ({ of, title: KINDS[of].plural, count: counts.get(of) ?? 0 })),
  ];
  return chips.map(({ of, title, count }) => (
    <button
      key={title}
      type="button"
      className="chip"
      aria-pressed={of === kind}
      onClick={() => onKind(of)}
    >
      {title} <span className="chip-count">{count}</span>
    </button>
  ));
}

function Nothing(props: { readonly isComplete: boolean; readonly isFiltered: boolean }) {
  if (!props.isComplete) return <output className="empty">Searching the tree …</output>;
  if (props.isFiltered) return <div className="empty">No recipe matches the filter.</div>;
  return (
    <div className="empty">
      <p>There is no lock, election, semaphore, queue, barrier or group.</p>
      <p className="faint">
        They are recognized by the names that Rookery's client, Curator and kazoo give their znodes.
      </p>
    </div>
  );
}
