import { describe, expect, it } from 'vitest';
import { outcomeOf } from './outcome.js';

function report(
  ...tests: readonly { title: string; status: string; failureMessages?: string[] }[]
) {
  return JSON.stringify({ testResults: [{ message: '', assertionResults: tests }] });
}

describe('the outcome of a scenario', () => {
  it('is that of the test with exactly its name, whatever the other tests do', () => {
    const failed = { title: 'b', status: 'failed', failureMessages: ['Error: why\n  at x'] };
    const text = report({ title: 'a', status: 'passed' }, failed);
    expect(outcomeOf(text, 'a')).toEqual({ kind: 'passed', detail: '' });
    expect(outcomeOf(text, 'b')).toEqual({ kind: 'failed', detail: 'Error: why' });
  });

  it('is "not run" if it was skipped, has no report, or its file does not load', () => {
    expect(outcomeOf(report({ title: 'a', status: 'skipped' }), 'a').kind).toBe('missing');
    expect(outcomeOf(null, 'a').kind).toBe('missing');
    const broken = { testResults: [{ message: 'SyntaxError: no\nmore', assertionResults: [] }] };
    expect(outcomeOf(JSON.stringify(broken), 'a')).toEqual({
      kind: 'missing',
      detail: 'SyntaxError: no',
    });
  });
});
