import {
  createReceiver,
  type EventOf,
  type FactuareaEvent,
  hasCode,
  isEvent,
  memoryStore,
  PermanentFailure,
  type ReceiverOptions,
  resourceOf,
  type Store,
  signDelivery,
  verifySignature,
} from '@factuarea-webhook/core';
import { fetchHandler, type RequestLike, toIncoming } from '@factuarea-webhook/core/fetch';

interface Transaction {
  query(text: string, values: readonly unknown[]): Promise<{ rowCount: number }>;
}
declare const store: Store<Transaction>;
declare const request: RequestLike;
declare const bytes: Uint8Array;
declare const nodeHeaders: Record<string, string | string[] | undefined>;

export const options: ReceiverOptions<Transaction> = {
  secret: { company: 'whsec_a', account: ['whsec_b', 'whsec_c'] },
  store,
  on: {
    'invoice.sent': async (event, { tx, signal, delivery }) => {
      const type: 'invoice.sent' = event.type;
      const endpoint: string | undefined = delivery.endpoint;
      if (signal.aborted) throw new PermanentFailure(`${type} of ${endpoint} came to nothing.`);
      await tx.query('INSERT INTO sent VALUES ($1)', [resourceOf(event)?.id]);
    },
    'something.new': (event) => event.data['field'],
    '*': (event: FactuareaEvent) => {
      if (isEvent(event, 'invoice.paid') && 'object' in event.data) event.data.object.object satisfies 'invoice';
    },
  },
};

export const receiver = createReceiver(options);
export const inMemory = createReceiver({ store: memoryStore({ maxIds: 10 }), handler: (event) => event.id });
export const fromEnvironment = createReceiver();
export const handle = fetchHandler(inMemory);
export const incoming = toIncoming(request);
export type Paid = EventOf<'invoice.paid'>;

export async function verify(): Promise<boolean> {
  const signature = await signDelivery({ body: bytes, secret: 'whsec_a', timestamp: 1 });
  const results = [
    await verifySignature({ signature, body: bytes, secret: ['whsec_a'] }),
    await verifySignature({ signature: nodeHeaders, body: 'text', secret: 'whsec_a', receivedAt: 1 }),
    await verifySignature({ signature: nodeHeaders['factuarea-signature'], body: 'text', secret: 'whsec_a' }),
  ];
  const response = await receiver.receive(incoming, async (event, { tx }) => {
    await tx.query(event.id, []);
    return 204;
  });
  return (
    results.every((result) => (result.ok ? result.timestamp > 0 : hasCode(result.reason, 'config_error'))) &&
    response.status === 200
  );
}
