import { PGlite } from '@electric-sql/pglite';
import { createReceiver, signDelivery } from '@factuarea-webhook/core';
import { type PgClient, postgresStore } from '@factuarea-webhook/postgres';

/** PGlite has one connection, so a claim waits its turn. `exec` takes several statements in one text, as `pg` does. */
function poolOf(db: PGlite) {
  let turn: Promise<unknown> = Promise.resolve();
  return {
    options: { max: 1 },
    async connect() {
      const before = turn;
      let release = (): void => {};
      turn = new Promise<void>((resolve) => {
        release = resolve;
      });
      await before;
      const client = {
        query: (text: string, values?: unknown[]) => (values ? db.query(text, values) : db.exec(text)),
        // Destroying the one connection there is would destroy the database with it: roll back instead.
        release: (destroy?: boolean) => void (destroy ? db.exec('ROLLBACK') : Promise.resolve()).finally(release),
      };
      return client satisfies PgClient;
    },
  };
}

async function main(): Promise<unknown> {
  const db = new PGlite();
  const store = postgresStore(poolOf(db));
  await store.migrate();
  await db.exec('CREATE TABLE effects (id text)');
  let fails = 'throws';
  const secret = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';
  const receiver = createReceiver({
    secret,
    store,
    cache: false,
    logger: { info() {}, warn() {}, error() {} },
    async handler(event, { tx }) {
      await tx.query('INSERT INTO effects VALUES ($1)', [event.id]);
      if (fails === 'swallows') await tx.query('SELECT 1 / $1::int', [0]).catch(() => {});
      if (fails === 'throws') throw new Error('Not yet.');
    },
  });
  const post = async (): Promise<string> => {
    const body = new TextEncoder().encode('{"id":"evt_1","type":"invoice.paid","data":{}}');
    const signature = await signDelivery({ body, secret });
    const header = (name: string): string | undefined => (name === 'factuarea-signature' ? signature : undefined);
    const { status, body: answer } = await receiver.receive({ method: 'POST', header, body: async () => body });
    return `${status} ${JSON.parse(answer ?? '{}').code}`;
  };
  const answers = [await post()];
  fails = 'swallows';
  answers.push(await post());
  fails = '';
  answers.push(...(await Promise.all([post(), post()])), await post());
  const leases = postgresStore(poolOf(db), { mode: 'lease' });
  await leases.migrate();
  const claim = await leases.claim('evt_1', { leaseMs: 1000, retentionMs: 1000 });
  const marked = claim.state === 'mine' && (await claim.done());
  const { rows } = await db.query<{ id: string }>('SELECT id FROM effects');
  const pruned = await store.prune({ olderThan: new Date(Date.now() + 60_000) });
  await db.close();
  return { answers, effects: rows.map(({ id }) => id), lease: [claim.state, marked], pruned };
}

main().then(
  (result) => console.log(JSON.stringify(result)),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
