/**
 * What the scripts of both npm clients need: promises with a deadline, and errors by their code.
 */
import assert from 'node:assert/strict';

const DEADLINE_MS = 15_000;

/** The second argument of the callback that `call` is given; rejects with the first. */
export function result(what, call) {
  return soon(
    what,
    new Promise((resolve, reject) => {
      call((error, ...values) => {
        if (error) reject(error);
        else resolve(values.length > 1 ? values : values[0]);
      });
    }),
  );
}

/** A promise and the function that fulfils it, for an event that is to come. */
export function upcoming(what) {
  let arrive;
  const arrived = new Promise((resolve) => {
    arrive = resolve;
  });
  return { arrive, arrived: soon(what, arrived) };
}

export async function refused(what, code, promise) {
  const outcome = await promise.then(
    () => 'no error',
    (error) => error,
  );
  // The native client has its code in the text only.
  const actual = outcome.code ?? outcome.getCode?.() ?? Number.parseInt(outcome.message, 10);
  assert.equal(actual, code, `${what}: ${outcome}`);
}

async function soon(what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer: ${what}`)), DEADLINE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
