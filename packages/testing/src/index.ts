export { signDelivery } from '@factuarea-webhook/core';
export {
  type AdapterSubject,
  adapterCases,
  adapterContract,
  type ContractResult,
  contractConfig,
  type TestRunner,
} from './adapter-contract.ts';
export { accountDelivery, companyDelivery, ping, type Twins, twinsOf } from './builders.ts';
export { type Clock, fastClock, type ManualClock, manualClock, realClock } from './clock.ts';
export type { ContractApp, ContractConfig, ContractRun, ContractState } from './contract-app.ts';
export type { RouteAnswer } from './contract-behaviour.ts';
export { type DeliverOptions, type DeliveryAttempt, deliver, type Verdict, verdictOf } from './deliver.ts';
export {
  type DataShape,
  type DeliveryOverrides,
  type EndpointKind,
  type FactuareaDelivery,
  redelivery,
} from './delivery.ts';
export { phpJson } from './php-json.ts';
export { FactuareaSender, retryCalendar } from './sender.ts';
export type { DeliveryState, HistoryEntry, SenderEndpoint, SenderOptions, SentDelivery } from './sender-types.ts';
export { type StormOptions, type StormResult, storm } from './storm.ts';
export {
  fetchTransport,
  type ReceivedAnswer,
  receiverTransport,
  type SentRequest,
  type SocketTransport,
  socketTransport,
  type Transport,
} from './transport.ts';
export { uuidV7 } from './uuid.ts';
