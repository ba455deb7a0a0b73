/**
 * One recipe: who has it, and who waits, in their order, each with its address, its session, since
 * when, and whether it watches the one before it. It is asked for every second.
 */
import { useCallback } from 'react';
import { useConsole } from '../console-context.js';
import { DetailPane, isGone } from '../live/detail-pane.js';
import { countText } from '../live/format.js';
import { Age } from '../live/now.js';
import { usePolled } from '../live/use-polled.js';
import { hrefOf } from '../router/route.js';
import { Icon } from '../ui/icon.js';
import { Notice } from '../ui/notice.js';
import {
  type Contender,
  KINDS,
  nameOf,
  problemsOf,
  type Recipe,
  waitingIn,
  watchStateOf,
} from './recipe.js';

const EVERY_MS = 1000;

export interface RecipeDetailProps {
  readonly path: string;
  readonly onClose: () => void;
}

export function RecipeDetail({ path, onClose }: RecipeDetailProps) {
  const { api } = useConsole();
  const ask = useCallback(
    (signal: AbortSignal) => api.get<Recipe>('/recipe', { path }, signal),
    [api, path],
  );
  const { value: recipe, error, refresh } = usePolled(ask, EVERY_MS);
  const heading = (
    <h2 className="recipe-title">
      {recipe === null ? null : (
        <span className={`badge recipe-badge recipe-${recipe.kind}`}>
          <Icon name={KINDS[recipe.kind].icon} /> {KINDS[recipe.kind].title}
        </span>
      )}{' '}
      <span className="path">{path}</span>
    </h2>
  );
  return (
    <DetailPane
      label={`Recipe ${path}`}
      group="Recipes"
      heading={heading}
      action={
        <a className="button button-small" href={hrefOf('node', { path })}>
          Show in the explorer
        </a>
      }
      error={error}
      gone="Nobody contends here any more: all of its znodes are gone."
      onRetry={refresh}
      onClose={onClose}
    >
      {recipe === null || isGone(error) ? null : <Contenders recipe={recipe} />}
    </DetailPane>
  );
}

function Contenders({ recipe }: { readonly recipe: Recipe }) {
  const { kind, holders, waiters, count, truncated, oldest, ready, permits } = recipe;
  const waiting = waitingIn(recipe);
  const words = KINDS[kind];
  return (
    <>
      {problemsOf(recipe).map((problem) => (
        <Notice key={problem} kind="bad">
          {problem}
        </Notice>
      ))}
      {truncated ? (
        <Notice kind="warn">
          There are more znodes than the server looks at for a recipe, so some may be missing.
        </Notice>
      ) : null}
      {kind === 'queue' ? (
        <p>
          {countText(count)} entries
          {oldest === null ? '.' : ', the oldest one is '}
          {oldest === null ? null : <Age ms={oldest} />}
          {oldest === null ? null : ' old. Nobody owns an entry.'}
        </p>
      ) : null}
      {kind === 'barrier' ? (
        <p>
          {ready === true
            ? 'All have come: the barrier is open, and those below are inside.'
            : 'Not all have come: those below wait at the barrier.'}
        </p>
      ) : null}
      {holders.length === 0 && kind !== 'queue' && kind !== 'barrier' ? (
        <p className="soft">Nobody holds it.</p>
      ) : null}
      {holders.length === 0 ? null : (
        <section className="section">
          <h2>
            {holders.length === 1 ? words.holder : words.holders}
            {permits === null ? null : (
              <span className="badge">
                {holders.length} of {permits} permits
              </span>
            )}
          </h2>
          <ol className="contenders" aria-label={words.holders}>
            {holders.map((one) => (
              <ContenderCard key={one.name} contender={one} kind={kind} isHolder />
            ))}
          </ol>
        </section>
      )}
      {waiters.length === 0 ? null : (
        <section className="section">
          <h2>
            Waiting, in their order <span className="badge badge-accent">{countText(waiting)}</span>
          </h2>
          <ol className="contenders contenders-waiting" aria-label="Waiting">
            {waiters.map((one, at) => (
              <ContenderCard
                key={one.name}
                contender={one}
                kind={kind}
                before={(waiters[at - 1] ?? holders.at(-1))?.name ?? null}
              />
            ))}
          </ol>
          {waiting > waiters.length ? (
            <p className="soft">{countText(waiting - waiters.length)} more wait behind these.</p>
          ) : null}
        </section>
      )}
    </>
  );
}

interface CardProps {
  readonly contender: Contender;
  readonly kind: Recipe['kind'];
  readonly isHolder?: boolean;
  /** The name of the one before it. */
  readonly before?: string | null;
}

function ContenderCard(props: CardProps) {
  const { contender, kind, isHolder = false, before = null } = props;
  const { session, address, member, since, name, part } = contender;
  const isDisconnected = session !== null && address === null && member === null;
  return (
    <li className={isHolder ? 'contender contender-holder' : 'contender'}>
      <div className="contender-head">
        <strong>{nameOf(contender)}</strong>
        {kind === 'read-write-lock' ? (
          <span className={`badge ${part === 'read' ? '' : 'badge-violet'}`}>{part}</span>
        ) : null}
        <span className="contender-since soft">
          {since === 0 ? null : (
            <>
              <Icon name="clock" /> {kind === 'group' ? 'for' : 'in line for'} <Age ms={since} />
            </>
          )}
        </span>
      </div>
      <dl className="contender-facts">
        <dt>Client</dt>
        <dd>
          {address === null || address === '' ? (
            <span className={isDisconnected && isHolder ? 'warn-text' : 'faint'}>
              {isDisconnected ? 'No member tells its connection' : 'Not told'}
            </span>
          ) : (
            <span className="code">{address}</span>
          )}
          {typeof member === 'number' ? <span className="faint"> at member {member}</span> : null}
        </dd>
        <dt>Session</dt>
        <dd>
          {session === null ? (
            <span className="faint">None: it outlives sessions</span>
          ) : (
            <a className="code" href={hrefOf('sessions', { id: session })}>
              {session}
            </a>
          )}
        </dd>
        <dt>Znode</dt>
        <dd className="code">{name}</dd>
        {isHolder || kind === 'barrier' ? null : (
          <>
            <dt>Watches</dt>
            <dd>
              <Watches contender={contender} before={before} />
            </dd>
          </>
        )}
      </dl>
    </li>
  );
}

interface WatchesProps {
  readonly contender: Contender;
  readonly before: string | null;
}

function Watches({ contender, before }: WatchesProps) {
  const { watches } = contender;
  switch (watchStateOf(contender)) {
    case 'watches':
      return (
        <span className="watch-good" title={watches ?? ''}>
          <Icon name="eye" />
          {watches === before ? 'the one before it' : <span className="code">{watches}</span>}
        </span>
      );
    case 'lost':
      return (
        <span className="badge badge-bad">
          <Icon name="warning" /> Nobody: it will not hear that its turn has come
        </span>
      );
    case 'unknown':
      return <span className="faint">No member tells</span>;
  }
}
