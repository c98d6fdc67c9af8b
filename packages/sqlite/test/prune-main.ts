import { sqliteStore } from '../src/index.ts';
import { libsql } from './drivers.ts';

/** A child process that prunes until nothing old is left, and tells its parent how many ids it deleted. */
const path = process.argv[3] as string;
const store = sqliteStore(() => libsql.open(path));

process.once('message', async () => {
  const deleted = await store.prune({ batchSize: 200 });
  await store.close();
  process.send?.({ deleted }, () => process.disconnect());
});
process.send?.('ready');
