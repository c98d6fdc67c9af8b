import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import type { SqliteDatabase } from '../src/index.ts';

/** A driver and how it opens a file. */
export interface Driver {
  readonly name: string;
  open(path: string): SqliteDatabase;
}

export const libsql: Driver = { name: 'libsql', open: (path) => new Libsql(path) };

/** `node:sqlite` is there from Node 22 on. */
function nodeSqlite(): Driver[] {
  try {
    const { DatabaseSync } = createRequire(__filename)('node:sqlite') as {
      DatabaseSync: new (path: string) => SqliteDatabase;
    };
    return [{ name: 'node:sqlite', open: (path) => new DatabaseSync(path) }];
  } catch {
    return [];
  }
}

export const drivers: readonly Driver[] = [libsql, ...nodeSqlite()];

/** A database file in a folder of its own. */
export function temporaryFile(): { path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'factuarea-sqlite-'));
  return { path: join(folder, 'app.db'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
