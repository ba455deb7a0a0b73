/** The outcome of one test, read from vitest's JSON report. Pure; main.ts calls it. */
interface TestResult {
  readonly title: string;
  readonly status: string;
  readonly failureMessages?: readonly string[];
}
interface FileResult {
  /** Why the file could not be run. */
  readonly message?: string;
  readonly assertionResults: readonly TestResult[];
}
interface Report {
  readonly testResults: readonly FileResult[];
}

export interface Outcome {
  /** `missing` means that it was not run at all. */
  readonly kind: 'passed' | 'failed' | 'missing';
  /** The first line of the reason. */
  readonly detail: string;
}

/** `text` is null if there is no report: vitest hung or did not start. */
export function outcomeOf(text: string | null, name: string): Outcome {
  if (text === null) return { kind: 'missing', detail: 'vitest made no report' };
  const { testResults }: Report = JSON.parse(text);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const run = tests.filter(({ title, status }) => title === name && status !== 'skipped');
  const [test] = run;
  if (test === undefined) {
    const detail = testResults.map(({ message }) => message ?? '').join(' ');
    return { kind: 'missing', detail: firstLine(detail) };
  }
  if (run.every(({ status }) => status === 'passed')) return { kind: 'passed', detail: '' };
  return {
    kind: 'failed',
    detail: firstLine(run.flatMap((one) => one.failureMessages ?? []).join(' ')),
  };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 160) ?? '';
}
