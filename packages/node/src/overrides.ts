/** Any method, called with whatever came. */
export type Method = (...args: unknown[]) => unknown;

/** Methods of one object, taken over for a while. */
export interface Overrides {
  /** Takes a method over, where the object has it. */
  set(name: string, instead: (args: unknown[]) => unknown): void;
  /** Calls a method as it was before. */
  call(name: string, args: unknown[]): unknown;
  /** Lets every call through while `work` runs: a method may use another, as Node's `writeHead` uses `setHeader`. */
  through(work: () => void): void;
  /** Gives the methods back. */
  lift(): void;
}

/** Takes over methods that may be another middleware's already, and that a later middleware may wrap in its own. */
export function overrides(object: object): Overrides {
  const target = object as Record<string, Method>;
  const taken = new Map<string, { mine: Method; before: Method; wasOwn: boolean }>();
  let isOpen = false;
  return {
    set(name, instead) {
      const before = target[name];
      if (!before) return;
      const mine: Method = (...args) => (isOpen ? before.apply(object, args) : instead(args));
      taken.set(name, { mine, before, wasOwn: Object.hasOwn(object, name) });
      target[name] = mine;
    },
    call(name, args) {
      return (taken.get(name)?.before ?? target[name])?.apply(object, args);
    },
    through(work) {
      isOpen = true;
      try {
        work();
      } finally {
        isOpen = false;
      }
    },
    lift() {
      isOpen = true;
      for (const [name, { mine, before, wasOwn }] of taken) {
        // A later middleware's wrapper stays, and finds our method letting everything through.
        if (target[name] !== mine) continue;
        if (wasOwn) target[name] = before;
        else Reflect.deleteProperty(object, name);
      }
    },
  };
}
