const DAY_MS = 86_400_000;
const FAILURES = 100;

/** Which endpoints are suspended: those to which 100 deliveries have failed permanently within 24 hours. */
export class Suspensions {
  readonly #failures = new Map<string, number[]>();
  readonly #suspended = new Set<string>();

  has(endpoint: string): boolean {
    return this.#suspended.has(endpoint);
  }

  /** Notes a permanent failure at this moment, in Unix milliseconds. */
  failed(endpoint: string, now: number): void {
    const failures = [...(this.#failures.get(endpoint) ?? []), now].filter((at) => at > now - DAY_MS);
    this.#failures.set(endpoint, failures);
    if (failures.length >= FAILURES) this.#suspended.add(endpoint);
  }

  lift(endpoint: string): void {
    this.#suspended.delete(endpoint);
    this.#failures.delete(endpoint);
  }
}
