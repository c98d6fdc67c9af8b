import type { Row } from './driver.ts';

/** How many ids are done, and since when. */
export interface SqliteStats {
  readonly count: number;
  /** When the id that was done first was done; undefined where there is none. */
  readonly oldest: Date | undefined;
  readonly newest: Date | undefined;
  /** Ids done per day, by the store's clock in UTC: `{ '2026-01-31': 12 }`, oldest first. */
  readonly byDay: Readonly<Record<string, number>>;
}

export function statsOf(days: readonly Row[]): SqliteStats {
  const at = (row: Row | undefined, column: string): Date | undefined => row && new Date(Number(row[column]));
  return {
    count: days.reduce((sum, { count }) => sum + Number(count), 0),
    oldest: at(days[0], 'first'),
    newest: at(days.at(-1), 'last'),
    byDay: Object.fromEntries(days.map(({ day, count }) => [String(day), Number(count)])),
  };
}
