import {
  type Context,
  createReceiver,
  type EventData,
  type EventOf,
  type FactuareaEvent,
  isEvent,
  memoryStore,
  type Receiver,
  type ReceiverOptions,
  type Route,
  type resourceOf,
  type SecretOption,
  type Store,
  type UnknownEvent,
} from '@factuarea-webhook/core';
import { type Equal, expectType } from './helpers.ts';

interface Transaction {
  query(text: string): Promise<void>;
}
declare const store: Store<Transaction>;
declare const event: FactuareaEvent;

// `on`: a known type brings its own event, an unknown one still type-checks, '*' takes any.
createReceiver({
  on: {
    'invoice.sent': (sent, context) => {
      expectType<Equal<typeof sent, EventOf<'invoice.sent'>>>();
      expectType<Equal<typeof sent.type, 'invoice.sent'>>();
      expectType<Equal<typeof context, Context<undefined>>>();
    },
    'payment.received': (received) => {
      if ('payment' in received.data && 'amount' in received.data.payment) {
        expectType<Equal<typeof received.data.payment.amount, number>>();
      }
    },
    'planet.discovered': (unknown) => {
      expectType<Equal<typeof unknown, UnknownEvent>>();
      expectType<Equal<(typeof unknown.data)['name'], unknown>>();
    },
    '*': (any) => expectType<Equal<typeof any, FactuareaEvent>>(),
  },
});

createReceiver({
  handler: (any, { event: same }) => {
    expectType<Equal<typeof any, FactuareaEvent>>();
    expectType<Equal<typeof same, FactuareaEvent>>();
  },
});

// @ts-expect-error a handler for another type's event
createReceiver({ on: { 'invoice.sent': (_sent: EventOf<'client.created'>) => {} } });
// @ts-expect-error a handler is a function
createReceiver({ on: { 'invoice.sent': 'later' } });
// @ts-expect-error a misspelt option
createReceiver({ hanlder: () => {} });
// @ts-expect-error seconds are a number
createReceiver({ toleranceSeconds: '300' });
// What comes out of `process.env` may be undefined, and is told so at construction.
createReceiver({ retention: undefined, logger: undefined, on: undefined });

// The store gives `context.tx` its type, in both forms of handler and in a route.
createReceiver({ store, handler: (_event, { tx }) => expectType<Equal<typeof tx, Transaction>>() });
createReceiver({ store, on: { 'invoice.sent': (_event, { tx }) => tx.query('SELECT 1') } });
createReceiver({ store: memoryStore(), handler: (_e, { tx }) => expectType<Equal<typeof tx, undefined>>() });
createReceiver({ handler: (_event, { tx }) => expectType<Equal<typeof tx, undefined>>() });
expectType<Equal<ReturnType<typeof createReceiver<Transaction>>, Receiver<Transaction>>>();
const route: Route<Transaction> = async (_event, { tx }) => {
  await tx.query('SELECT 1');
  return 204;
};
createReceiver({ store }).receive(
  { method: 'POST', header: () => undefined, body: async () => new Uint8Array() },
  route,
);
// @ts-expect-error a lease store has no transaction to write through
createReceiver({ store: memoryStore(), handler: (_event, { tx }) => tx.query('SELECT 1') });
// @ts-expect-error a route gives the status that it answered with
const silent: Route = () => {};

export { silent };

// Every form of `secret`.
const secrets: SecretOption[] = [
  'whsec_a',
  ['whsec_a', 'whsec_b'],
  { company: 'whsec_a', account: ['whsec_b', 'whsec_c'] },
  () => 'whsec_a',
  async () => ({ company: 'whsec_a' }),
  async () => ['whsec_a'],
];
expectType<Equal<ReceiverOptions['secret'], SecretOption | undefined>>();
for (const secret of secrets) createReceiver({ secret });
createReceiver({ secret: process.env['FACTUAREA_WEBHOOK_SECRET'] });
// @ts-expect-error a number is no secret
createReceiver({ secret: 42 });
// @ts-expect-error nor is a list of lists
createReceiver({ secret: [['whsec_a']] });

// Narrowing.
if (isEvent(event, 'invoice.paid')) {
  expectType<Equal<typeof event.type, 'invoice.paid'>>();
  if ('object' in event.data) {
    expectType<Equal<typeof event.data.object.object, 'invoice'>>();
    expectType<Equal<(typeof event.data.object)['total'], unknown>>();
  }
}
if (isEvent(event, 'planet.discovered')) expectType<Equal<typeof event.type, 'planet.discovered'>>();
expectType<Equal<EventOf<'invoice.paid'>['data'], EventData<'invoice.paid'>>>();
expectType<Equal<ReturnType<typeof resourceOf>, { type: string; id: string } | undefined>>();
// `recurring_invoice.executed` is about an invoice.
declare const executed: EventOf<'recurring_invoice.executed'>;
if ('invoice' in executed.data && 'uuid' in executed.data.invoice) {
  expectType<Equal<typeof executed.data.invoice.number, string | null>>();
}
