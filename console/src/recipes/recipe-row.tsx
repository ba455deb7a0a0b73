/**
 * A recipe in the list: its kind and path, who has it, how many wait, and whether something is
 * wrong.
 */
import { countText } from '../live/format.js';
import { Age } from '../live/now.js';
import { hrefOf, parseRoute } from '../router/route.js';
import { Icon } from '../ui/icon.js';
import { KINDS, nameOf, problemsOf, type Recipe, waitingIn } from './recipe.js';

export interface RecipeRowProps {
  readonly recipe: Recipe;
  readonly isSelected: boolean;
}

export function RecipeRow({ recipe, isSelected }: RecipeRowProps) {
  const { path, kind } = recipe;
  const problems = problemsOf(recipe);
  return (
    <li>
      <a
        className="recipe-row"
        data-row=""
        href={hrefWith(path)}
        aria-current={isSelected ? 'true' : undefined}
      >
        <span className={`recipe-icon recipe-${kind}`} title={KINDS[kind].title}>
          <Icon name={KINDS[kind].icon} />
          <span className="visually-hidden">{KINDS[kind].title}</span>
        </span>
        <span className="recipe-what">
          <span className="path">{path}</span>
          <span className="recipe-who">
            <Who recipe={recipe} />
          </span>
        </span>
        <span className="recipe-flags">
          {problems.length === 0 ? null : (
            <span className="badge badge-bad" title={problems.join(' ')}>
              <Icon name="warning" /> {problems.length === 1 ? 'Problem' : 'Problems'}
            </span>
          )}
          <Waiting recipe={recipe} />
        </span>
      </a>
    </li>
  );
}

/** The same page with its filters, and another recipe. */
function hrefWith(path: string): string {
  const query = Object.fromEntries(parseRoute(location.hash).query);
  return hrefOf('recipes', { ...query, path });
}

function Who({ recipe }: { readonly recipe: Recipe }) {
  const { kind, holders, oldest, count, ready, permits } = recipe;
  const [first] = holders;
  if (kind === 'queue') {
    return oldest === null ? (
      'empty'
    ) : (
      <>
        oldest entry <Age ms={oldest} /> old
      </>
    );
  }
  if (kind === 'barrier') {
    return ready === true ? `open, ${countText(count)} inside` : 'closed, not passed yet';
  }
  if (kind === 'group') return `${countText(count)} members`;
  if (first === undefined) return 'no holder';
  const more = holders.length > 1 ? ` and ${holders.length - 1} more` : '';
  const verb = kind === 'election' ? 'leads' : holders.length > 1 ? 'hold it' : 'holds it';
  const of = permits === null ? '' : `, ${holders.length} of ${permits} permits are taken`;
  return (
    <>
      <strong>{nameOf(first)}</strong>
      {`${more} ${verb}${of}`}
    </>
  );
}

function Waiting({ recipe }: { readonly recipe: Recipe }) {
  if (recipe.kind === 'queue') {
    return <span className="badge">{countText(recipe.count)} entries</span>;
  }
  const waiting = waitingIn(recipe);
  if (waiting === 0) return null;
  return <span className="badge badge-accent">{countText(waiting)} waiting</span>;
}
