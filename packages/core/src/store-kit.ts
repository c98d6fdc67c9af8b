/** What the stores have in common, for those who write one. */
export { checkNames, eventIdOf, timeoutMsOf } from './checks.ts';
export { configError } from './errors.ts';
export { type Guarded, guard } from './guard.ts';
export { quoteName, splitName } from './names.ts';
export { type Place, type Places, placesOf } from './places.ts';
export {
  inBatches,
  type PrunePlan,
  type PruneScheduleOptions,
  prunePlan,
  retentionSeen,
  type StopPruning,
  schedulePrune,
} from './prune.ts';
export { type Ask, busy, sharing } from './sharing.ts';
export { type PruneSchedules, pruneSchedules, type SqlStore, type StoreStats } from './sql-store.ts';
export { pause, within } from './time.ts';
export { warnOfOwnEnd } from './warn.ts';

/** A token that no other claim has: what settles a claim proves with it that the claim is its own. */
export function newToken(): string {
  return crypto.randomUUID();
}
