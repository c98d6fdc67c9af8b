import type * as core from '@factuarea-webhook/core';
import type * as fetchBridge from '@factuarea-webhook/core/fetch';
import { type Equal, expectType, type HasAny, type IsAny } from './helpers.ts';

type NamesWithAny<Module> = { [Name in keyof Module]: HasAny<Module[Name]> extends true ? Name : never }[keyof Module];

// Every value that is exported, its parameters and results included. The classes inherit `any` from Node's `Error`
// in their static side, so they are looked at by what they make and take.
type Classes = 'FactuareaWebhookError' | 'PermanentFailure';
expectType<Equal<NamesWithAny<Omit<typeof core, Classes>>, never>>();
expectType<Equal<HasAny<ConstructorParameters<(typeof core)[Classes]>>, false>>();
expectType<Equal<HasAny<core.FactuareaWebhookError['code']>, false>>();
expectType<Equal<NamesWithAny<typeof fetchBridge>, never>>();

// Every type that is exported. A missing one would be noticed by whoever adds it to `index.ts`.
interface Types {
  BusyClaim: core.BusyClaim;
  Claim: core.Claim<{ query: 1 }>;
  ClaimOptions: core.ClaimOptions;
  Context: core.Context<{ query: 1 }>;
  Delivery: core.Delivery;
  DoneClaim: core.DoneClaim;
  Envelope: core.Envelope<'a.b', { a: 1 }>;
  ErrorCode: core.ErrorCode;
  EventData: core.EventData<'invoice.sent'>;
  EventOf: core.EventOf<'invoice.sent'> | core.EventOf<'unheard.of'>;
  EventTypes: core.EventTypes;
  FactuareaEvent: core.FactuareaEvent;
  Handler: core.Handler<core.FactuareaEvent, { query: 1 }>;
  Handlers: core.Handlers<{ query: 1 }>;
  HandlerSignal: core.MinimalSignal;
  HeadersLike: core.HeadersLike;
  HeaderValue: core.HeaderValue;
  Incoming: core.Incoming;
  KnownEventType: core.KnownEventType;
  LegacyData: core.LegacyData<'invoice.created'>;
  Logger: core.Logger;
  MemoryStore: core.MemoryStore;
  MemoryStoreOptions: core.MemoryStoreOptions;
  MinimalSignal: core.MinimalSignal;
  ObjectData: core.ObjectData<'invoice.sent'>;
  Outcome: core.Outcome;
  OutcomeCode: core.OutcomeCode;
  Outgoing: core.Outgoing;
  OwnClaim: core.OwnClaim<{ query: 1 }>;
  PruneOptions: core.PruneOptions;
  Receiver: core.Receiver<{ query: 1 }>;
  ReceiverOptions: core.ReceiverOptions<{ query: 1 }>;
  ReferenceData: core.ReferenceData<'invoice.sent'>;
  Route: core.Route<{ query: 1 }>;
  SecretOption: core.SecretOption;
  Secrets: core.Secrets;
  SignatureFailure: core.SignatureFailure;
  SignOptions: core.SignOptions;
  Store: core.Store<{ query: 1 }>;
  UnknownEvent: core.UnknownEvent;
  Verified: core.Verified;
  VerifyOptions: core.VerifyOptions;
  FetchPlatform: fetchBridge.FetchPlatform;
  RequestLike: fetchBridge.RequestLike;
  StreamLike: fetchBridge.StreamLike;
}
expectType<Equal<NamesWithAny<Types>, never>>();

// The search itself finds what it looks for.
type Anything = ReturnType<typeof JSON.parse>;
expectType<IsAny<Anything>>();
expectType<HasAny<{ a: { b: (c: { d: Anything }) => void } }>>();
expectType<HasAny<(a: string) => Promise<Anything[]>>>();
