/**
 * Makes something once. `next build` imports every route on machines that have no secrets, so there it waits for a
 * request, which never comes; everywhere else it is made, and its options are checked, at once.
 */
export function late<Value>(make: () => Value): () => Value {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  let made: { value: Value } | undefined;
  const get = (): Value => {
    made ??= { value: make() };
    return made.value;
  };
  if (process?.env?.['NEXT_PHASE'] !== 'phase-production-build') get();
  return get;
}
