/** A limit on how much is under way at once. Whoever comes later waits for a place, in order. */
export class Places {
  readonly #most: number;
  readonly #queue: (() => void)[] = [];
  #emptied: (() => void)[] = [];
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Waits for a place, and gives the function that gives it back. */
  async enter(): Promise<() => void> {
    this.#taken++;
    if (this.#taken > this.#most) await new Promise<void>((go) => this.#queue.push(go));
    return () => this.#leave();
  }

  /** Resolves once nobody has a place or waits for one. */
  empty(): Promise<void> {
    return this.#taken === 0 ? Promise.resolve() : new Promise((resolve) => this.#emptied.push(resolve));
  }

  #leave(): void {
    this.#taken--;
    this.#queue.shift()?.();
    if (this.#taken > 0) return;
    for (const resolve of this.#emptied) resolve();
    this.#emptied = [];
  }
}
