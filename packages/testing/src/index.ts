export {
  type AdapterSubject,
  adapterCases,
  adapterContract,
  type ContractResult,
  contractConfig,
  type TestRunner,
} from './adapter-contract.ts';
export type {
  ContractApp,
  ContractConfig,
  ContractRun,
  ContractState,
  RouteAnswer,
} from './contract-app.ts';
export { phpJson } from './php-json.ts';
export { uuidV7 } from './uuid.ts';
