import type { Claim, OwnClaim } from '@factuarea-webhook/core';
import { createPool, type Pool, type PoolOptions } from 'mysql2/promise';
import { launch, type OwnServer } from '../../../tests/support/servers.ts';

export { lateness, until } from '../../../tests/support/waiting.ts';
export type { OwnServer as Server };

export const lifetimes: { leaseMs: number; retentionMs: number } = { leaseMs: 15_000, retentionMs: 604_800_000 };

/** The server that the package's tests share. */
export function sharedUrl(): string {
  return process.env['TEST_MYSQL_URL'] as string;
}

export function connect(options: PoolOptions = {}): Pool {
  return createPool({ uri: sharedUrl(), connectionLimit: 10, ...options });
}

/** A table name that no other test has. */
export function freshTable(name = 'ids'): string {
  return `${name}_${Date.now().toString(36)}_${Math.random().toString(36).slice(2, 10)}`;
}

export function own<Tx>(claim: Claim<Tx>): OwnClaim<Tx> {
  if (claim.state !== 'mine') throw new Error(`The claim is "${claim.state}".`);
  return claim;
}

/** A MariaDB of the test's own, to be stopped, frozen and started again on its port and data. */
export function startServer(options: object = {}): Promise<OwnServer> {
  return launch('mariadb', { own: true, ...options });
}
