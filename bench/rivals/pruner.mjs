/** One process that prunes whenever its parent says so, and answers with the number of ids. Arguments: kind, url. */
import { kinds } from './aged.mjs';

const [, , kind, url] = process.argv;
const { store } = await kinds[kind].open(url);
process.on('message', async () => process.send(await store.prune()));
process.once('disconnect', () => process.exit());
process.send('ready');
