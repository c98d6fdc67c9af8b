import type { StoreStats } from '@factuarea-webhook/core/store-kit';
import type { Row } from './driver.ts';

export function statsOf(days: readonly Row[]): StoreStats {
  const at = (row: Row | undefined, column: string): Date | undefined => row && new Date(Number(row[column]));
  return {
    count: days.reduce((sum, { count }) => sum + Number(count), 0),
    oldest: at(days[0], 'first'),
    newest: at(days.at(-1), 'last'),
    byDay: Object.fromEntries(days.map(({ day, count }) => [String(day), Number(count)])),
  };
}
