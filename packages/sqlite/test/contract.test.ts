import { type StoreUnderTest, storeContract } from '@factuarea-webhook/testing/store-contract';
import { describe, test } from '@jest/globals';
import { type SqliteDatabase, sqliteStore } from '../src/index.ts';
import { drivers, temporaryFile } from './drivers.ts';

for (const { name, open } of drivers) {
  storeContract(
    {
      name: `sqlite on ${name}, leases`,
      prunes: true,
      forgets: true,
      create() {
        const { path, remove } = temporaryFile();
        const store = sqliteStore(() => open(path));
        const second = sqliteStore(() => open(path));
        return {
          store,
          second,
          forget: store.forget,
          async close() {
            await Promise.all([store.close(), second.close()]);
            remove();
          },
        };
      },
    },
    { describe, test },
  );

  storeContract(
    {
      name: `sqlite on ${name}, transactions`,
      transactional: true,
      serial: true,
      prunes: true,
      forgets: true,
      create(): StoreUnderTest<SqliteDatabase> {
        const { path, remove } = temporaryFile();
        const database = open(path);
        database.exec('CREATE TABLE effects (id TEXT NOT NULL)');
        const store = sqliteStore(() => open(path), { mode: 'transaction' });
        const second = sqliteStore(() => open(path), { mode: 'transaction' });
        return {
          store,
          second,
          forget: store.forget,
          effect: (tx, id) => tx.prepare('INSERT INTO effects VALUES (?)').run(id),
          countEffects: (id) => database.prepare('SELECT 1 FROM effects WHERE id = ?').all(id).length,
          async close() {
            await Promise.all([store.close(), second.close()]);
            database.close();
            remove();
          },
        };
      },
    },
    { describe, test },
  );
}
