import type { Claim, OwnClaim } from '@factuarea-webhook/core';
import {
  createReceiver,
  type Outgoing,
  type Receiver,
  type ReceiverOptions,
  signDelivery,
} from '@factuarea-webhook/core';
import { newToken } from '@factuarea-webhook/core/store-kit';
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5';
import { launch, type OwnServer } from '../../../tests/support/servers.ts';

export { lateness, until } from '../../../tests/support/waiting.ts';
export type { OwnServer as Server };

export const lifetimes: { leaseMs: number; retentionMs: number } = { leaseMs: 15_000, retentionMs: 604_800_000 };

/** Both supported versions of the client. */
export const clients: [version: string, lib: { Redis: typeof Redis6; Cluster: typeof Cluster6 }][] = [
  ['ioredis 6', { Redis: Redis6, Cluster: Cluster6 }],
  // What the tests call of them is the same; that both fit the store as they are is checked in `test-types`.
  ['ioredis 5', { Redis: Redis5, Cluster: Cluster5 } as unknown as { Redis: typeof Redis6; Cluster: typeof Cluster6 }],
];

/** The server that the package's tests share. */
export function sharedUrl(): string {
  return process.env['TEST_REDIS_URL'] as string;
}

/** A key prefix that no other test has. */
export function freshPrefix(): string {
  return `test-${newToken()}:`;
}

export function own<Tx>(claim: Claim<Tx>): OwnClaim<Tx> {
  if (claim.state !== 'mine') throw new Error(`The claim is "${claim.state}".`);
  return claim;
}

/** A Redis of the test's own, to be stopped, frozen and started again on its port. */
export function startServer(options: { port?: number; args?: string[]; config?: string } = {}): Promise<OwnServer> {
  return launch('redis', { own: true, ...options });
}

const secret = 'whsec_test_of_the_stores';

/** A receiver that knows the secret of `deliver`. */
export function receiver(options: ReceiverOptions): Receiver {
  const quiet = { info() {}, warn() {}, error() {} };
  return createReceiver({ secret, cache: false, logger: quiet, ...options });
}

/** Delivers one event with this id. */
export async function deliver(to: Receiver, id: string): Promise<Outgoing & { code: string }> {
  const body = new TextEncoder().encode(JSON.stringify({ id, type: 'invoice.sent', data: {} }));
  const signature = await signDelivery({ secret, body });
  const outgoing = await to.receive({
    method: 'POST',
    header: (name) => (name === 'factuarea-signature' ? signature : undefined),
    body: async () => body,
  });
  return { ...outgoing, ...JSON.parse(outgoing.body ?? '{}') };
}
