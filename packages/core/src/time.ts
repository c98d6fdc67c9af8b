/** Gives what `work` gives, or rejects with `late()` once `ms` have passed. `work` itself goes on. */
export async function within<Value>(work: PromiseLike<Value>, ms: number, late: () => unknown): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), Math.max(ms, 0));
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** For calls into the user's code whose failure must change nothing. */
export function attempt<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
