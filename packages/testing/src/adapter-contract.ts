import { appendFileSync } from 'node:fs';
import { bodyCases } from './adapter-cases/bodies.ts';
import type { Case } from './adapter-cases/case.ts';
import { connectionCases } from './adapter-cases/connections.ts';
import { middlewareCases } from './adapter-cases/middleware.ts';
import { outcomeCases } from './adapter-cases/outcomes.ts';
import { signatureCases } from './adapter-cases/signatures.ts';
import { storeFaultCases } from './adapter-cases/stores.ts';
import { summaryCases } from './adapter-cases/summary.ts';
import type { ContractConfig } from './contract-app.ts';
import { type Form, Probe } from './contract-probe.ts';
import { uuidV7 } from './uuid.ts';

/** An adapter to be judged. */
export interface AdapterSubject {
  /** How it is called in reports, with its runtime where there are several: `'hono on bun'`. */
  readonly name: string;
  /** Starts a server whose app was made by `contractApp(config)`, in this process or in another. */
  start(config: ContractConfig): Promise<{ readonly url: string; close(): unknown }>;
  /**
   * Cases that cannot hold here, with the reason. They are run all the same and must fail: an exception that is no
   * longer needed makes the suite fail until it is removed.
   */
  readonly except?: Readonly<Record<string, string>>;
}

/**
 * The functions of a test runner: jest's and vitest's as they are; of `node:test`, `before` and `after` for the last two.
 * The last argument is a time limit in milliseconds, typed so that it may be anything: `node:test` wants an object there,
 * and overlooks a number.
 */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: () => Promise<void>, ms: never): unknown;
  beforeAll(body: () => Promise<void>, ms: never): unknown;
  afterAll(body: () => Promise<void>, ms: never): unknown;
}

/** One line of the file that `CONTRACT_REPORT` names. */
export interface ContractResult {
  readonly subject: string;
  readonly case: string;
  readonly title: string;
  readonly result: 'passed' | 'failed' | 'excepted';
  readonly reason?: string;
}

const all: readonly Case[] = [
  ...outcomeCases,
  ...storeFaultCases,
  ...signatureCases,
  ...bodyCases,
  ...connectionCases,
  ...middlewareCases,
  // Last, since they look back at all that has happened.
  ...summaryCases,
];

/** Every case of the contract, for tables: `id` is stable and begins with the form. */
export const adapterCases: readonly { readonly id: string; readonly title: string }[] = expand().map(
  ({ id, title }) => ({ id, title }),
);

const START_MS = 120_000 as never;
const CASE_MS = 30_000 as never;
// What cannot hold often shows it by an answer that never comes, and no answer that is due takes this long.
const EXCEPTED_MS = 3000;

/**
 * Judges an adapter over real sockets: every status, both forms of use, everything a body can do. Call it at the top
 * level of a test file.
 *
 * Where the environment's `CONTRACT_REPORT` names a file, every result is added to it as a line of JSON.
 *
 * @throws Error where `except` names a case that does not exist.
 * @example
 * ```ts
 * import { afterAll, beforeAll, describe, test } from '@jest/globals';
 * import { adapterContract, type AdapterSubject } from '@factuarea-webhook/testing';
 *
 * const subject: AdapterSubject = { name: 'my adapter', start: async (config) => startMyServer(contractApp(config)) };
 * adapterContract(subject, { describe, test, beforeAll, afterAll });
 * ```
 */
export function adapterContract(subject: AdapterSubject, runner: TestRunner): void {
  const cases = expand();
  const except = subject.except ?? {};
  for (const id of Object.keys(except)) {
    if (!cases.some((one) => one.id === id))
      throw new Error(`\`except\` names the case \`${id}\`, which does not exist.`);
  }
  const config = contractConfig();
  runner.describe(`adapter contract: ${subject.name}`, () => {
    let server: Awaited<ReturnType<AdapterSubject['start']>> | undefined;
    runner.beforeAll(async () => {
      server = await subject.start(config);
    }, START_MS);
    runner.afterAll(async () => {
      await server?.close();
    }, START_MS);
    for (const { id, title, form, run } of cases) {
      const reason = except[id];
      const body = async (): Promise<void> => {
        if (!server) throw new Error('The subject did not start.');
        await run(new Probe(form, server.url, config));
      };
      const name = reason === undefined ? `${id}: ${title}` : `${id}: excepted, since ${reason}`;
      runner.test(name, () => judge({ subject: subject.name, case: id, title }, reason, body), CASE_MS);
    }
  });
}

/** The settings that the cases are written for: short times, a limit that is quickly reached. */
export function contractConfig(): ContractConfig {
  const secret = (name: string): string => `whsec_${name}${uuidV7().replaceAll('-', '')}`;
  return {
    run: uuidV7(),
    secrets: { company: secret('company'), account: secret('account') },
    bodyLimit: 400 * 1024,
    timeoutSeconds: 1,
    handlerLimitSeconds: 2,
    storeTimeoutSeconds: 0.4,
  };
}

interface ExpandedCase extends Case {
  readonly form: Form;
}

function expand(): ExpandedCase[] {
  return all.flatMap((one) =>
    (one.forms ?? ['handler', 'middleware']).map((form) => ({ ...one, id: `${form}/${one.id}`, form })),
  );
}

async function judge(
  about: Pick<ContractResult, 'subject' | 'case' | 'title'>,
  reason: string | undefined,
  body: () => Promise<void>,
): Promise<void> {
  let failure: unknown;
  try {
    await (reason === undefined ? body() : soon(body()));
  } catch (error) {
    failure = error ?? new Error('The case failed with nothing.');
  }
  if (reason === undefined) {
    report({ ...about, result: failure === undefined ? 'passed' : 'failed' });
    if (failure !== undefined) throw failure;
    return;
  }
  report({ ...about, result: failure === undefined ? 'failed' : 'excepted', reason });
  if (failure === undefined) throw new Error(`\`${about.case}\` holds: remove it from \`except\`.`);
}

async function soon(work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The case had not ended in time.')), EXCEPTED_MS);
  });
  await Promise.race([work, end]).finally(() => clearTimeout(timer));
}

function report(result: ContractResult): void {
  const file = process.env['CONTRACT_REPORT'];
  if (file) appendFileSync(file, `${JSON.stringify(result)}\n`);
}
