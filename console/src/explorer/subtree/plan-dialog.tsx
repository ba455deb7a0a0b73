/**
 * A dialog for what changes many znodes: a form, the plan of what would be done, a confirmation,
 * and the progress, which can be stopped. Closing it stops what is under way.
 */
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { isAborted, sentenceOf } from '../../api/problem.js';
import { pause } from '../../live/pause.js';
import { Dialog } from '../../ui/dialog.js';
import { Notice, ProblemNotice } from '../../ui/notice.js';
import { shown } from '../paths.js';
import { counted, numberInWords } from '../words.js';
import { type Plan, type Progress, runPlan, stepCount } from './plan.js';

const PACES = [20, 100, 500] as const;
const PATHS_LISTED = 20;

export interface PlanDialogProps {
  readonly title: string;
  /** What the button that goes ahead says, such as `Delete`. */
  readonly verb: string;
  readonly isDangerous?: boolean;
  /** What has to be typed before it goes ahead; null for nothing. */
  readonly typed?: string | null;
  /** The fields before the plan is made. */
  readonly form?: ReactNode;
  /** Whether the fields are complete. */
  readonly isReady?: boolean;
  /** Makes the plan, or says in a sentence why there is none. */
  readonly makePlan: (
    signal: AbortSignal,
    onProgress: (count: number) => void,
  ) => Promise<Plan | string>;
  readonly onClose: () => void;
  /** It ran, to whatever end: the tree may have changed. */
  readonly onRan: (progress: Progress) => void;
}

type Phase =
  | { readonly kind: 'form'; readonly problem: unknown }
  | { readonly kind: 'planning'; readonly count: number }
  | { readonly kind: 'planned'; readonly plan: Plan }
  | { readonly kind: 'running'; readonly plan: Plan; readonly progress: Progress };

const NOT_BEGUN: Progress = { done: 0, failed: 0, failures: [], state: 'running' };

export function PlanDialog(props: PlanDialogProps) {
  const { title, verb, form, isReady = true, onClose } = props;
  const [pace, setPace] = useState<number>(PACES[1]);
  const [confirmed, setConfirmed] = useState('');
  const { phase, plan, run, stop } = usePhases(props, pace);
  const isConfirmed = (props.typed ?? null) === null || confirmed === props.typed;
  const forward =
    phase.kind === 'form'
      ? { label: 'Make a plan', isDisabled: !isReady, act: plan }
      : phase.kind === 'planned'
        ? { label: verb, isDisabled: !isConfirmed || stepCount(phase.plan) === 0, act: run }
        : null;
  const isRunning = phase.kind === 'running' && phase.progress.state === 'running';
  const kind = props.isDangerous === true && phase.kind === 'planned' ? 'danger' : 'primary';
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => {
        if (forward !== null && !forward.isDisabled) forward.act();
      }}
      foot={
        <>
          {phase.kind === 'planned' ? <PaceChoice pace={pace} onChange={setPace} /> : null}
          <span className="bar-gap" />
          {isRunning ? (
            <button type="button" className="button" onClick={stop}>
              Stop
            </button>
          ) : (
            <button type="button" className="button" onClick={onClose}>
              {phase.kind === 'running' ? 'Close' : 'Cancel'}
            </button>
          )}
          {forward === null ? null : (
            <button
              ref={focusOnce}
              // A new one for each phase, which takes the focus that the fields before it had.
              key={phase.kind}
              type="submit"
              className={`button button-${kind}`}
              disabled={forward.isDisabled}
            >
              {forward.label}
            </button>
          )}
        </>
      }
    >
      {phase.kind === 'form' || phase.kind === 'planning' ? form : null}
      {phase.kind === 'form' ? <ProblemNotice error={phase.problem} /> : null}
      {phase.kind === 'planning' ? (
        <output className="soft">Looking: {counted(phase.count, 'znode')} so far …</output>
      ) : null}
      {phase.kind === 'planned' ? <PlanView plan={phase.plan} /> : null}
      {phase.kind === 'planned' && (props.typed ?? null) !== null ? (
        <label className="field">
          <span>
            Type <b className="code">{props.typed}</b> to go ahead
          </span>
          <input
            ref={focusNow}
            className="input input-code"
            autoComplete="off"
            value={confirmed}
            onChange={(event) => setConfirmed(event.target.value)}
          />
        </label>
      ) : null}
      {phase.kind === 'running' ? <ProgressView {...phase} /> : null}
    </Dialog>
  );
}

function usePhases({ form, makePlan, onRan }: PlanDialogProps, pace: number) {
  const [phase, setPhase] = useState<Phase>({ kind: 'form', problem: null });
  const end = useRef<AbortController | null>(null);
  const plan = (): void => {
    const own = new AbortController();
    end.current = own;
    setPhase({ kind: 'planning', count: 0 });
    makePlan(own.signal, (count) => setPhase({ kind: 'planning', count }))
      .then((made) => {
        if (own.signal.aborted) return;
        setPhase(
          typeof made === 'string'
            ? { kind: 'form', problem: made }
            : { kind: 'planned', plan: made },
        );
      })
      .catch((problem: unknown) => {
        if (!isAborted(problem)) setPhase({ kind: 'form', problem });
      });
  };
  const run = (): void => {
    if (phase.kind !== 'planned') return;
    const own = new AbortController();
    end.current = own;
    const onProgress = (progress: Progress): void => {
      setPhase({ kind: 'running', plan: phase.plan, progress });
    };
    onProgress(NOT_BEGUN);
    const { signal } = own;
    const nowMs = (): number => performance.now();
    const wait = (ms: number): Promise<void> => pause(ms, signal);
    runPlan(phase.plan, { signal, pace, nowMs, onProgress, wait }).then(onRan).catch(reportError);
  };
  const begin = useRef(plan);
  const needsNoForm = form === undefined;
  useEffect(() => {
    if (needsNoForm) begin.current();
    return () => end.current?.abort();
  }, [needsNoForm]);
  return { phase, plan, run, stop: () => end.current?.abort() };
}

/** What has to be typed is what one comes to next. */
function focusNow(field: HTMLInputElement | null): void {
  field?.focus();
}

/** The fields that had the focus are gone once there is a plan. */
function focusOnce(button: HTMLButtonElement | null): void {
  const dialog = button?.closest('dialog');
  if (dialog?.contains(document.activeElement) === true && document.activeElement !== dialog)
    return;
  button?.focus();
}

function PaceChoice(props: { readonly pace: number; readonly onChange: (pace: number) => void }) {
  const { pace, onChange } = props;
  return (
    <label className="check">
      <span className="soft">At most</span>
      <select
        className="input pace"
        value={pace}
        onChange={(event) => onChange(Number(event.target.value))}
      >
        {PACES.map((one) => (
          <option key={one} value={one}>
            {one} a second
          </option>
        ))}
      </select>
    </label>
  );
}

function PlanView({ plan }: { readonly plan: Plan }) {
  return (
    <>
      <dl className="plan-facts">
        {plan.facts.map(([name, value]) => (
          <div key={name} className="plan-fact">
            <dt>{name}</dt>
            <dd>{shown(value)}</dd>
          </div>
        ))}
      </dl>
      {plan.warnings.map(({ sentence, paths }) => (
        <Notice key={sentence} kind="warn">
          {sentence}
          {paths.length === 0 ? null : <PathList paths={paths} />}
        </Notice>
      ))}
      {stepCount(plan) === 0 ? <Notice kind="plain">There is nothing to do.</Notice> : null}
    </>
  );
}

function PathList({ paths }: { readonly paths: readonly string[] }) {
  const more = paths.length - PATHS_LISTED;
  return (
    <ul className="failures">
      {paths.slice(0, PATHS_LISTED).map((path) => (
        <li key={path} className="code">
          {shown(path)}
        </li>
      ))}
      {more > 0 ? <li>and {numberInWords(more)} more</li> : null}
    </ul>
  );
}

function ProgressView({ plan, progress }: { readonly plan: Plan; readonly progress: Progress }) {
  const { done, failed, failures, state } = progress;
  const total = stepCount(plan);
  return (
    <>
      <progress
        className="progress"
        max={Math.max(1, total)}
        value={done + failed}
        aria-label="Gone through"
      />
      <output>
        {state === 'done' && failed === 0
          ? `All ${counted(total, 'step')} are done.`
          : `${counted(done, 'step')} of ${total} done${state === 'running' ? ' …' : '.'}`}
        {state === 'stopped' ? ' It was stopped; the rest is as it was.' : ''}
      </output>
      {failed === 0 ? null : (
        <Notice kind="bad">
          {counted(failed, 'step')} failed
          {failed > failures.length ? `; the first ${failures.length} are:` : ':'}
          <ul className="failures">
            {failures.map(({ path, verb, error }) => (
              <li key={`${verb} ${path}`}>
                <span className="code">
                  {verb} {shown(path)}
                </span>
                : {sentenceOf(error)}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  );
}
