/**
 * The merge of an edit with what somebody else wrote: what only one has changed is taken, and where
 * both changed the same lines the person chooses.
 */
import { useMemo, useState } from 'react';
import { Notice } from '../../ui/notice.js';
import { counted } from '../words.js';
import { type Choice, conflictCount, mergedRegions, mergedText, type Region } from './merge.js';

/** Lines of agreed text that are shown around a conflict. */
const CONTEXT = 3;

export interface MergePanelProps {
  readonly versions: {
    readonly base: string;
    readonly mine: string;
    /** Null if what they wrote is not of the same kind, such as binary data in place of a text. */
    readonly theirs: string | null;
  };
  readonly onBack: () => void;
  readonly onMerged: (text: string) => void;
}

const CHOICES: readonly { readonly choice: Choice; readonly title: string }[] = [
  { choice: 'mine', title: 'Mine' },
  { choice: 'theirs', title: 'Theirs' },
  { choice: 'both', title: 'Both' },
  { choice: 'base', title: 'As it was' },
];

export function MergePanel({ versions, onBack, onMerged }: MergePanelProps) {
  const { base, mine, theirs } = versions;
  const regions = useMemo(
    () => (theirs === null ? null : mergedRegions({ base, mine, theirs })),
    [base, mine, theirs],
  );
  const conflicts = regions === null ? 0 : conflictCount(regions);
  const [choices, setChoices] = useState<readonly (Choice | null)[]>([]);
  const isChosen = Array.from({ length: conflicts }, (_, index) => choices[index] ?? null).every(
    (choice) => choice !== null,
  );
  const choose = (index: number, choice: Choice): void => {
    setChoices(
      Array.from({ length: conflicts }, (_, at) => (at === index ? choice : (choices[at] ?? null))),
    );
  };
  if (regions === null) return <WholeChoice {...versions} onBack={onBack} onMerged={onMerged} />;
  return (
    <div className="merge-panel">
      <Notice kind={conflicts === 0 ? 'good' : 'warn'}>
        Somebody else has changed this znode while you edited it.{' '}
        {conflicts === 0
          ? 'You changed different lines, so both changes are kept. Review the result.'
          : `You both changed the same lines in ${counted(conflicts, 'place')}: choose what to keep.`}
      </Notice>
      <div className="merge-regions">
        <Regions regions={regions} choices={choices} onChoose={choose} />
      </div>
      <footer className="edit-foot">
        <span className="soft">Nothing is written before you have reviewed it.</span>
        <button type="button" className="button" onClick={onBack}>
          Back to the edit
        </button>
        <button
          type="button"
          className="button button-primary"
          disabled={!isChosen}
          onClick={() =>
            onMerged(
              mergedText(
                regions,
                choices.map((one) => one ?? 'mine'),
              ),
            )
          }
        >
          Review the result
        </button>
      </footer>
    </div>
  );
}

interface RegionsProps {
  readonly regions: readonly Region[];
  readonly choices: readonly (Choice | null)[];
  readonly onChoose: (index: number, choice: Choice) => void;
}

function Regions({ regions, choices, onChoose }: RegionsProps) {
  let conflict = -1;
  return regions.map((region, place) => {
    // Regions never change their order.
    const key = `${place} ${region.kind}`;
    if (region.kind === 'agreed') {
      const isFirst = place === 0;
      const isLast = place === regions.length - 1;
      return <Agreed key={key} lines={region.lines} isFirst={isFirst} isLast={isLast} />;
    }
    conflict += 1;
    const index = conflict;
    return (
      <Conflict
        key={key}
        region={region}
        index={index}
        choice={choices[index] ?? null}
        onChoose={(choice) => onChoose(index, choice)}
      />
    );
  });
}

interface AgreedProps {
  readonly lines: readonly string[];
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

function Agreed({ lines, isFirst, isLast }: AgreedProps) {
  const head = isFirst ? [] : lines.slice(0, CONTEXT);
  const left = lines.slice(head.length);
  const tail = isLast ? [] : left.slice(-CONTEXT);
  const hidden = left.length - tail.length;
  return (
    <pre className="merge-agreed">
      {head.length === 0 ? null : `${head.join('\n')}\n`}
      {hidden === 0 ? null : <span className="faint">{`… ${counted(hidden, 'line')} …\n`}</span>}
      {tail.join('\n')}
    </pre>
  );
}

interface ConflictProps {
  readonly region: Extract<Region, { readonly kind: 'conflict' }>;
  readonly index: number;
  readonly choice: Choice | null;
  readonly onChoose: (choice: Choice) => void;
}

function Conflict({ region, index, choice, onChoose }: ConflictProps) {
  return (
    <fieldset className="merge-conflict">
      <legend>Place {index + 1}</legend>
      <div className="merge-sides">
        <Side title="Mine" lines={region.mine} isTaken={choice === 'mine' || choice === 'both'} />
        <Side
          title="Theirs"
          lines={region.theirs}
          isTaken={choice === 'theirs' || choice === 'both'}
        />
      </div>
      <div className="merge-choices">
        {CHOICES.map((one) => (
          <label key={one.choice} className="check">
            <input
              type="radio"
              name={`conflict-${index}`}
              checked={choice === one.choice}
              onChange={() => onChoose(one.choice)}
            />
            {one.title}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface SideProps {
  readonly title: string;
  readonly lines: readonly string[];
  readonly isTaken: boolean;
}

function Side({ title, lines, isTaken }: SideProps) {
  return (
    <div className={isTaken ? 'merge-side is-taken' : 'merge-side'}>
      <span className="soft">{title}</span>
      <pre>{lines.length === 0 ? <span className="faint">(removed)</span> : lines.join('\n')}</pre>
    </div>
  );
}

function WholeChoice({
  mine,
  theirs,
  onBack,
  onMerged,
}: MergePanelProps['versions'] & Pick<MergePanelProps, 'onBack' | 'onMerged'>) {
  return (
    <div className="merge-panel">
      <Notice kind="warn">
        Somebody else has changed this znode while you edited it, and it cannot be merged by lines:{' '}
        {theirs === null ? 'what is there now is of another kind.' : 'it has too many lines.'}
      </Notice>
      <footer className="edit-foot">
        <button type="button" className="button" onClick={onBack}>
          Back to the edit
        </button>
        {theirs === null ? null : (
          <button type="button" className="button" onClick={() => onMerged(theirs)}>
            Take theirs
          </button>
        )}
        <button type="button" className="button" onClick={() => onMerged(mine)}>
          Review mine in its place
        </button>
      </footer>
    </div>
  );
}
