/** Asks again and again until `check` gives something true, and fails after a while. */
export async function until<Value>(
  check: () => Value | Promise<Value>,
  limitMs = 10_000,
): Promise<Exclude<Awaited<Value>, false | undefined>> {
  const end = performance.now() + limitMs;
  for (;;) {
    const value = await check();
    if (value) return value as Exclude<Awaited<Value>, false | undefined>;
    if (performance.now() > end) throw new Error(`It did not come true within ${limitMs} ms: ${check}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/**
 * Milliseconds that `work` took beyond `limitMs`. Counted from a timer of that length, so that a machine that is slow to
 * run any timer at all is not taken for a store that answers late.
 */
export async function lateness(limitMs: number, work: () => Promise<unknown>): Promise<number> {
  let dueAt: number | undefined;
  const timer = setTimeout(() => {
    dueAt = performance.now();
  }, limitMs);
  await work();
  clearTimeout(timer);
  return dueAt === undefined ? 0 : performance.now() - dueAt;
}
