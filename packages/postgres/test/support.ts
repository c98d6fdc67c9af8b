import {
  type Claim,
  type ClaimOptions,
  createReceiver,
  type OwnClaim,
  type ReceiverOptions,
  signDelivery,
} from '@factuarea-webhook/core';
import { Pool, type PoolClient, type PoolConfig } from 'pg';

export { lateness, until } from '../../../tests/support/waiting.ts';

/** The address of the server that the package's tests share. */
export const url: string = process.env['TEST_POSTGRES_URL'] ?? '';

/** A schema of its own, so that no test sees another's tables. */
export interface Place {
  readonly schema: string;
  /** A pool whose unqualified names lead to the schema. Ended by `close`. */
  pool(config?: PoolConfig): Pool;
  close(): Promise<void>;
}

let places = 0;

export async function place(): Promise<Place> {
  const schema = `test_${process.pid}_${places++}`;
  const pools: Pool[] = [];
  const make = (config: PoolConfig = {}): Pool => {
    const pool = new Pool({
      connectionString: url,
      options: `-c search_path=${schema}`,
      connectionTimeoutMillis: 2000,
      ...config,
    });
    pools.push(pool);
    return pool;
  };
  const own = make({ max: 1 });
  await own.query(`CREATE SCHEMA ${schema}`);
  return {
    schema,
    pool: make,
    async close() {
      await Promise.all(pools.filter((pool) => pool !== own && !pool.ended).map((pool) => pool.end()));
      await own.query(`SET client_min_messages = warning; DROP SCHEMA ${schema} CASCADE`);
      await own.end();
    },
  };
}

export const effectsTable = 'CREATE TABLE IF NOT EXISTS effects (id text NOT NULL)';

export async function effect(client: Pick<PoolClient, 'query'>, id: string): Promise<void> {
  await client.query('INSERT INTO effects (id) VALUES ($1)', [id]);
}

export async function countEffects(pool: Pool, id: string): Promise<number> {
  const { rows } = await pool.query('SELECT count(*)::int AS count FROM effects WHERE id = $1', [id]);
  return rows[0].count;
}

const secret = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';

export const lifetimes: ClaimOptions = { leaseMs: 20_000, retentionMs: 90 * 86_400_000 };

/** A claim that must have been granted. */
export async function own<Tx>(claiming: Promise<Claim<Tx>>): Promise<OwnClaim<Tx>> {
  const claim = await claiming;
  if (claim.state !== 'mine') throw new Error(`The claim was answered ${claim.state}.`);
  return claim;
}

export interface Posted {
  readonly status: number;
  readonly code: string;
  readonly ms: number;
  readonly error: unknown;
}

/** A receiver that takes deliveries by function call. */
export function receiving<Tx>(options: ReceiverOptions<Tx>): (id: string) => Promise<Posted> {
  const errors = new Map<string | undefined, unknown>();
  const receiver = createReceiver<Tx>({
    secret,
    logger: { info() {}, warn() {}, error() {} },
    onOutcome: ({ eventId, error }) => errors.set(eventId, error),
    ...options,
  });
  return async (id) => {
    const body = new TextEncoder().encode(JSON.stringify({ id, type: 'invoice.paid', data: {} }));
    const signature = await signDelivery({ body, secret });
    const startedAt = performance.now();
    const { status, body: answer } = await receiver.receive({
      method: 'POST',
      header: (name) => (name === 'factuarea-signature' ? signature : undefined),
      body: async () => body,
    });
    const { code } = JSON.parse(answer ?? '{}') as { code: string };
    return { status, code, ms: performance.now() - startedAt, error: errors.get(id) };
  };
}
