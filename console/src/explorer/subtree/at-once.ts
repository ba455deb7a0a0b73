/**
 * Work on many znodes, some requests at a time.
 */

/** A browser makes no more connections to a server at a time, and the server has other callers. */
const AT_ONCE = 4;

/** Runs `work` for each item in their order, some at a time. Rejects with the first failure. */
export async function forEach<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const entries = items.entries();
  let isOver = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (isOver) return;
      await work(item, index);
    }
  };
  const workers = Array.from({ length: AT_ONCE }, worker);
  try {
    await Promise.all(workers);
  } finally {
    isOver = true;
  }
}
