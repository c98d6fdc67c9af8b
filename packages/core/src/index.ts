export { type ErrorCode, FactuareaWebhookError, hasCode, PermanentFailure } from './errors.ts';
export type { EventTypes } from './event-types/index.ts';
export {
  createdAt,
  type Envelope,
  type EventData,
  type EventOf,
  type FactuareaEvent,
  isEvent,
  type KnownEventType,
  type LegacyData,
  type ObjectData,
  type ReferenceData,
  resourceOf,
  type UnknownEvent,
} from './events.ts';
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './memory-store.ts';
export type { Handler, Handlers, ReceiverOptions } from './options.ts';
export { createReceiver, type Receiver, type Route } from './receiver.ts';
export type { SecretOption, Secrets } from './secrets.ts';
export {
  type HeadersLike,
  type SignatureFailure,
  type SignOptions,
  signDelivery,
  type Verified,
  type VerifyOptions,
  verifySignature,
} from './signature.ts';
export type {
  BusyClaim,
  Claim,
  ClaimOptions,
  Context,
  Delivery,
  DoneClaim,
  HandlerSignal,
  HeaderValue,
  Incoming,
  Logger,
  MinimalSignal,
  Outcome,
  OutcomeCode,
  Outgoing,
  OwnClaim,
  PruneOptions,
  Store,
} from './types.ts';
