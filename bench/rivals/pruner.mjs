/** One process that prunes the store which its parent names, and answers with the number of ids. */
import { kinds } from './aged.mjs';

const opened = new Map();

process.on('message', async ({ kind, url }) => {
  if (!opened.has(kind)) opened.set(kind, kinds[kind].open(url));
  const { store } = await opened.get(kind);
  process.send(await store.prune());
});
process.once('disconnect', () => process.exit());
process.send('ready');
