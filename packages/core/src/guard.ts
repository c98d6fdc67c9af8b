import { FactuareaWebhookError } from './errors.ts';

/** The handler's view of a connection. */
export interface Guarded<Client> {
  readonly tx: Client;
  /** From now on any use of `tx` throws. */
  end(why: string): void;
}

/**
 * Lends a connection to a handler until the transaction has ended. A handler that goes on using it, in work that it
 * does not wait for, would otherwise write into whatever transaction the pool gives the connection to next.
 */
export function guard<Client extends object>(client: Client): Guarded<Client> {
  let ended: string | undefined;
  const tx = new Proxy(client, {
    get(target, name) {
      if (ended) throw new FactuareaWebhookError('lease_lost', ended);
      // The store gives the connection back itself. Query builders call this after each statement.
      if (name === 'release') return () => {};
      const value: unknown = Reflect.get(target, name, target);
      // Bound to the connection itself, so that its own properties are found, private ones included.
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
  return {
    tx,
    end(why) {
      ended ??= why;
    },
  };
}
