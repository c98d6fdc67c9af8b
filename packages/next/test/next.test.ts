import { signDelivery } from '@factuarea-webhook/core';
import { factuareaWebhook } from '@factuarea-webhook/next';
import { factuareaWebhook as inPages } from '@factuarea-webhook/next/pages';
import { contractConfig } from '@factuarea-webhook/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeProject, type Project } from './support.ts';

const secret = 'whsec_7Qm2Zr9tLk4XvB1nAe6H';

describe('a real project', () => {
  let project: Project;
  let server: Awaited<ReturnType<Project['start']>>;

  beforeAll(async () => {
    project = await makeProject('app');
    const env = { CONTRACT_CONFIG: JSON.stringify(contractConfig()) };
    // No secret is set, neither in `FACTUAREA_WEBHOOK_SECRET` nor in the variable that a route reads by itself.
    await project.build({ ...env, FACTUAREA_WEBHOOK_SECRET: '' });
    server = await project.start({ ...env, FACTUAREA_WEBHOOK_SECRET: secret });
  }, 240_000);

  afterAll(async () => {
    await server?.close();
    await project?.remove();
  }, 30_000);

  async function post(path: string, body: string, more: Record<string, string> = {}): Promise<[number, string]> {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'factuarea-signature': await signDelivery({ body, secret }), ...more },
      body,
    });
    return [response.status, await response.text()];
  }

  const event = (id: string, more = ''): string => JSON.stringify({ id, type: 'invoice.paid', data: {}, more });

  test('built without a secret, it takes the one that is set where it runs', async () => {
    expect(await post('/env', event('evt_next_env'))).toEqual([200, '{"code":"handled"}']);
  });

  test('a secret that is missing where it runs too is answered 500, and told', async () => {
    const [status] = await post('/unset', event('evt_next_unset'));
    expect(status).toBe(500);
    expect(server.output()).toContain('A secret is missing.');
  });

  test('a body cut by Next’s proxy is told from a forged one: 503, since the cut is ours', async () => {
    expect(await post('/cut', event('evt_next_whole'))).toEqual([200, '{"code":"handled"}']);
    const cut = event('evt_next_cut', 'x'.repeat(5000));
    expect(await post('/cut', cut)).toEqual([503, '{"code":"body_incomplete"}']);
    expect(await post('/env', cut)).toEqual([200, '{"code":"handled"}']);
    const forged = await post('/cut', event('evt_next_forged'), {
      'factuarea-signature': await signDelivery({ body: 'other', secret }),
    });
    expect(forged).toEqual([401, '{"code":"invalid_signature"}']);
  });
});

describe.each([
  ['App Router', (options: object, route?: () => never) => factuareaWebhook(options, route)],
  ['Pages Router', (options: object, route?: () => never) => inPages(options, route)],
])('options in the %s', (_name, make) => {
  const handler = (): void => {};
  const route = (): never => {
    throw new Error('Not reached.');
  };

  test('are checked when the route is made', () => {
    expect(() => make({ handler, bodyLimit: 0 })).toThrow('`bodyLimit`');
    expect(() => make({ handler, secret: undefined })).toThrow('A secret is missing.');
    expect(() => make({})).toThrow('`handler` or `on`, or a route');
    expect(() => make({ handler }, route)).toThrow('not both');
  });

  test('wait during `next build`', () => {
    process.env['NEXT_PHASE'] = 'phase-production-build';
    try {
      expect(make({ handler, secret: undefined })).toBeInstanceOf(Function);
    } finally {
      delete process.env['NEXT_PHASE'];
    }
  });
});
