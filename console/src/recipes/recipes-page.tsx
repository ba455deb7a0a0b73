/**
 * The page "Recipes": every lock, election, semaphore, queue, barrier and group below a path, with
 * who has it and how many wait, and one of them in detail.
 */
import { useMemo, useState } from 'react';
import { useConsole } from '../console-context.js';
import { FilterField, RefreshButton } from '../live/list-controls.js';
import { onListKeys } from '../live/list-keys.js';
import { ListPage } from '../live/list-page.js';
import { goTo, useRoute } from '../router/use-route.js';
import { Chip } from '../ui/chip.js';
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
  const { recipes, isComplete, cut, error, refresh } = useRecipes(api, path);
  const shown = useMemo(() => recipes.filter(matching(kind, text)), [recipes, kind, text]);
  const show = (more: Readonly<Record<string, string | null>>) =>
    goTo('recipes', { below: path === '/' ? null : path, kind, path: selected, ...more });
  const actions = (
    <>
      <Kinds recipes={recipes} kind={kind} onKind={(next) => show({ kind: next })} />
      <FilterField
        group="Recipes"
        placeholder="Filter by path, holder or address"
        value={text}
        onChange={setText}
      />
      <RefreshButton title="Search again" group="Recipes" onRefresh={refresh} />
    </>
  );
  const notes = (
    <>
      <ProblemNotice error={error} onRetry={refresh} />
      {cut === null ? null : <Notice kind="warn">Not everything was searched: {cut}</Notice>}
    </>
  );
  const detail =
    selected === null ? null : (
      <RecipeDetail key={selected} path={selected} onClose={() => show({ path: null })} />
    );
  return (
    <ListPage title="Recipes" actions={actions} notes={notes} detail={detail}>
      <ul className="row-list" aria-label="Recipes" onKeyDown={onListKeys}>
        {shown.map((recipe) => (
          <RecipeRow key={recipe.path} recipe={recipe} isSelected={recipe.path === selected} />
        ))}
      </ul>
      {shown.length > 0 ? null : (
        <Nothing isComplete={isComplete} isFiltered={recipes.length > 0} />
      )}
    </ListPage>
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
    <Chip key={title} isOn={of === kind} onClick={() => onKind(of)}>
      {title} <span className="chip-count">{count}</span>
    </Chip>
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
