import { launch, type OwnServer } from '../../../tests/support/servers.ts';

export type { OwnServer };

/** A Postgres of the test's own, which it may stop. */
export function ownServer(options: { readonly port?: number; readonly folder?: string }): Promise<OwnServer> {
  return launch('postgres', { own: true, ...options });
}

/** A PgBouncer in front of the server at `target`, pooling by transaction. */
export function pgBouncer(options: { readonly target: string; readonly poolSize?: number }): Promise<OwnServer> {
  return launch('pgbouncer', options);
}
