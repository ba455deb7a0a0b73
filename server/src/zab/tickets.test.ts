import { describe, expect, it } from 'vitest';
import { Tickets } from './history.js';

function started(): { tickets: Tickets; said: string[]; run: () => void } {
  const tickets = new Tickets();
  return { tickets, said: [], run: () => tickets.runDue(() => false) };
}

describe('tickets', () => {
  it('hold an action back until its write and all before it are durable', () => {
    const { tickets, said, run } = started();
    tickets.issue();
    const second = tickets.issue();
    tickets.after(second, () => said.push('second'));
    tickets.onPersisted(1);
    run();
    expect(said).toEqual([]);
    tickets.onPersisted(2);
    run();
    expect(said).toEqual(['second']);
  });

  it('run an action at once when its write is durable already', () => {
    const { tickets, said } = started();
    tickets.onPersisted(tickets.issue());
    tickets.after(1, () => said.push('now'));
    tickets.after(0, () => said.push('nothing to wait for'));
    expect(said).toEqual(['now', 'nothing to wait for']);
  });

  it('run what is due in the order in which it was held back', () => {
    const { tickets, said, run } = started();
    const [first, second] = [tickets.issue(), tickets.issue()];
    tickets.after(first, () => said.push('a'));
    tickets.after(second, () => said.push('b'));
    tickets.after(first, () => said.push('c'));
    tickets.onPersisted(second);
    run();
    expect(said).toEqual(['a', 'b', 'c']);
  });

  it('forget what a role held back, never the numbering of its writes', () => {
    const { tickets, said, run } = started();
    tickets.after(tickets.issue(), () => said.push('of the old role'));
    tickets.forget();
    expect(tickets.issue()).toBe(2);
    tickets.onPersisted(1);
    run();
    expect(said).toEqual([]);
  });

  it('run nothing more once an action has ended the role', () => {
    const { tickets, said } = started();
    let ended = false;
    const ticket = tickets.issue();
    tickets.after(ticket, () => {
      said.push('ends the role');
      ended = true;
    });
    tickets.after(ticket, () => said.push('too late'));
    tickets.onPersisted(ticket);
    tickets.runDue(() => ended);
    expect(said).toEqual(['ends the role']);
  });

  it('refuse completions that were never issued or go back', () => {
    const { tickets } = started();
    expect(() => tickets.onPersisted(1)).toThrow(/never issued/);
    tickets.issue();
    tickets.issue();
    tickets.onPersisted(2);
    expect(() => tickets.onPersisted(1)).toThrow(/completed/);
  });
});
