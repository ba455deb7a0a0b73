/**
 * Editing the data of a znode: type, review the difference, save by the version that was read.
 *
 * If somebody was faster, nothing is lost: what both have done is merged by lines, the person
 * chooses where both changed the same, and reviews again, now against what is there.
 */
import { lazy, Suspense, useState } from 'react';
import { statusOf } from '../../api/problem.js';
import { useConsole } from '../../console-context.js';
import { useShortcuts } from '../../keyboard/use-shortcuts.js';
import { Notice, ProblemNotice } from '../../ui/notice.js';
import { contentOf } from '../data/detect.js';
import { laidOut } from '../data/json-layout.js';
import { readData } from '../node/use-node.js';
import { bytesOfDraft, type Draft, inFormOf, isChanged, warningOf } from './draft.js';
import { MergePanel } from './merge-panel.js';

const CodeView = lazy(async () => ({ default: (await import('./code-view.js')).CodeView }));
const DiffView = lazy(async () => ({ default: (await import('./diff-view.js')).DiffView }));

/** What somebody else wrote in the meantime. */
interface Theirs {
  readonly text: string | null;
  readonly version: number;
}

export interface EditPanelProps {
  readonly path: string;
  readonly draft: Draft;
  /** The version by now, as far as it is known. */
  readonly newestVersion: number;
  readonly onChange: (draft: Draft) => void;
  /** The edit is saved, or given up. */
  readonly onEnd: (isSaved: boolean) => void;
}

type Step = 'edit' | 'review' | 'merge';

export function EditPanel(props: EditPanelProps) {
  const { draft, onChange, onEnd, newestVersion } = props;
  const [step, setStep] = useState<Step>('edit');
  const [theirs, setTheirs] = useState<Theirs | null>(null);
  const save = useSave(props, (found) => {
    setTheirs(found);
    setStep('merge');
  });
  const review = (): void => {
    if (isChanged(draft)) setStep('review');
  };
  useShortcuts([
    {
      keys: 'Mod+s',
      title: 'Review the edit, then save it',
      group: 'Edit',
      run: () => {
        if (step === 'edit') review();
        else if (step === 'review') save.run();
      },
    },
    {
      keys: 'Escape',
      title: 'Back',
      group: 'Edit',
      run: () => {
        if (step !== 'edit') setStep('edit');
        else if (!isChanged(draft)) onEnd(false);
      },
    },
  ]);
  if (step === 'merge' && theirs !== null) {
    return (
      <MergePanel
        versions={{ base: draft.base, mine: draft.text, theirs: theirs.text }}
        onBack={() => setStep('edit')}
        onMerged={(text) => {
          onChange({ ...draft, text, base: theirs.text ?? '', version: theirs.version });
          setStep('review');
        }}
      />
    );
  }
  const isOutdated = newestVersion > draft.version;
  return (
    <div className="edit-panel">
      {isOutdated && step === 'edit' ? (
        <Notice
          kind="warn"
          action={
            <button type="button" className="button button-small" onClick={save.merge}>
              Merge now
            </button>
          }
        >
          Somebody has changed this znode since you began. Nothing of yours is lost.
        </Notice>
      ) : null}
      <ProblemNotice error={save.problem} />
      <div className="edit-body">
        <Suspense fallback={<output className="asking">Loading the editor …</output>}>
          {step === 'edit' ? (
            <CodeView
              text={draft.text}
              language={draft.language}
              label={draft.form === 'hex' ? 'Data in hex' : 'Data'}
              onChange={(text) => onChange({ ...draft, text })}
            />
          ) : (
            <DiffView before={draft.base} after={draft.text} language={draft.language} />
          )}
        </Suspense>
      </div>
      {step === 'edit' ? (
        <EditFoot draft={draft} onChange={onChange} onEnd={onEnd} onReview={review} />
      ) : (
        <ReviewFoot
          draft={draft}
          isBusy={save.isBusy}
          onBack={() => setStep('edit')}
          onSave={save.run}
        />
      )}
    </div>
  );
}

interface Save {
  readonly run: () => void;
  /** Reads what is there by now and goes on with the merge. */
  readonly merge: () => void;
  readonly isBusy: boolean;
  /** A sentence, or what was thrown; null if nothing went wrong. */
  readonly problem: unknown;
}

function useSave(
  { path, draft, onEnd }: EditPanelProps,
  onConflict: (theirs: Theirs) => void,
): Save {
  const { api } = useConsole();
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const merge = async (): Promise<void> => {
    const { bytes, version } = await readData(api, path);
    onConflict({ text: inFormOf(draft, await contentOf(bytes, path)), version });
  };
  const run = async (): Promise<void> => {
    const body = await bytesOfDraft(draft);
    if (typeof body === 'string') {
      setProblem(body);
      return;
    }
    try {
      await api.write('PUT', '/node/data', { query: { path }, body, match: draft.version });
      onEnd(true);
    } catch (error) {
      if (statusOf(error) !== 412) throw error;
      await merge();
    }
  };
  const doing = (work: () => Promise<void>) => (): void => {
    if (isBusy) return;
    setIsBusy(true);
    setProblem(null);
    work()
      .catch(setProblem)
      .finally(() => setIsBusy(false));
  };
  return { run: doing(run), merge: doing(merge), isBusy, problem };
}

interface EditFootProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly onEnd: (isSaved: boolean) => void;
  readonly onReview: () => void;
}

function EditFoot({ draft, onChange, onEnd, onReview }: EditFootProps) {
  const warning = warningOf(draft);
  const layout = draft.language === 'json' ? laidOut(draft.text) : null;
  return (
    <footer className="edit-foot">
      <span className="soft">
        {draft.form === 'hex' ? 'Bytes in hex' : `Text${draft.isZipped ? ' inside of gzip' : ''}`},
        from version {draft.version}.{' '}
        {warning === null ? null : <span className="badge badge-warn">{warning}</span>}
      </span>
      {layout !== null && layout.text !== draft.text ? (
        <button
          type="button"
          className="button"
          onClick={() => onChange({ ...draft, text: layout.text })}
        >
          Lay out
        </button>
      ) : null}
      <button type="button" className="button" onClick={() => onEnd(false)}>
        {isChanged(draft) ? 'Discard' : 'Close'}
      </button>
      <button
        type="button"
        className="button button-primary"
        disabled={!isChanged(draft)}
        onClick={onReview}
      >
        Review <kbd>Ctrl S</kbd>
      </button>
    </footer>
  );
}

interface ReviewFootProps {
  readonly draft: Draft;
  readonly isBusy: boolean;
  readonly onBack: () => void;
  readonly onSave: () => void;
}

function ReviewFoot({ draft, isBusy, onBack, onSave }: ReviewFootProps) {
  return (
    <footer className="edit-foot">
      <span className="soft">
        On the left is version {draft.version}, on the right what you are about to write.
      </span>
      <button type="button" className="button" onClick={onBack}>
        Back
      </button>
      <button
        type="button"
        className="button button-primary"
        disabled={isBusy || !isChanged(draft)}
        onClick={onSave}
      >
        Save <kbd>Ctrl S</kbd>
      </button>
    </footer>
  );
}
