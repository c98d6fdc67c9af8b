import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type TcpProxy, tcpProxy } from '../../../tests/failures/tcp-proxy.ts';
import { type RedisStore, redisStore } from '../src/index.ts';
import { claimScript, doneScript, extendScript, releaseScript } from '../src/scripts.ts';
import { clients, freshPrefix, lateness, lifetimes, own, sharedUrl, until } from './support.ts';

describe.each(clients)('a faulty network under %s', (_version, lib) => {
  describe.each([
    ['default options', {}],
    ['no resending', { autoResendUnfulfilledCommands: false }],
    ['no retries', { maxRetriesPerRequest: 0 }],
  ])('%s', (_name, options) => {
    let proxy: TcpProxy;
    let store: RedisStore;
    let direct: RedisStore;
    let close: () => Promise<unknown>;

    beforeEach(async () => {
      proxy = await tcpProxy(sharedUrl());
      const client = new lib.Redis(proxy.through(sharedUrl()), { retryStrategy: () => 20, ...options });
      const other = new lib.Redis(sharedUrl());
      client.on('error', () => {});
      const prefix = freshPrefix();
      store = redisStore(client, { prefix, logger: { warn() {} } });
      direct = redisStore(other, { prefix });
      // So that every script is known to the server, and is called by its name.
      const claim = own(await store.claim('before', lifetimes));
      await claim.extend?.(lifetimes.leaseMs);
      await claim.release();
      await own(await store.claim('before', lifetimes)).done();
      close = async () => {
        client.disconnect();
        await other.quit();
        await proxy.stop();
      };
    });

    afterEach(() => close());

    test.each(['request', 'reply'] as const)(
      'the %s of each call is lost, and the call is made again',
      async (what) => {
        // Half of it is waited for a lost reply where the client does not send again by itself.
        const brisk = { ...lifetimes, timeoutMs: 1000 };
        let lost = proxy.loseOnce(what, claimScript.sha);
        const claiming = store.claim('a', brisk);
        await lost;
        const claim = own(await claiming);
        expect((await direct.claim('a', lifetimes)).state).toBe('busy');

        lost = proxy.loseOnce(what, extendScript.sha);
        const extended = claim.extend?.(60_000);
        await lost;
        expect(await extended).toBe(true);
        const other = await direct.claim('a', lifetimes);
        expect(other.state === 'busy' && other.retryAfterMs).toBeGreaterThan(lifetimes.leaseMs);

        lost = proxy.loseOnce(what, releaseScript.sha);
        const released = claim.release();
        await lost;
        await released;
        const second = own(await store.claim('a', brisk));

        lost = proxy.loseOnce(what, doneScript.sha);
        const marked = second.done();
        await lost;
        expect(await marked).toBe(true);
        expect(await direct.claim('a', lifetimes)).toEqual({ state: 'done' });
      },
    );

    test('black-holed: answered in time, and it recovers though the old connection never does', async () => {
      proxy.blackHole();
      for (let i = 0; i < 3; i += 1) {
        const late = await lateness(200, () =>
          expect(store.claim(`id-${i}`, { ...lifetimes, timeoutMs: 200 })).rejects.toMatchObject({
            code: 'store_unavailable',
          }),
        );
        expect(late).toBeLessThan(200);
      }
      proxy.cut();
      proxy.pass();
      const claim = await until(async () => {
        const next = await store.claim('id-0', lifetimes).catch(() => undefined);
        return next?.state === 'mine' && next;
      });
      expect(await claim.done()).toBe(true);
    });

    test('slow: answered in time, and what comes late is given back', async () => {
      proxy.delay(150);
      await expect(store.claim('a', { ...lifetimes, timeoutMs: 200 })).rejects.toMatchObject({
        code: 'store_unavailable',
      });
      proxy.pass();
      await until(async () => (await direct.claim('a', lifetimes)).state === 'mine', 5000);
    });
  });
});

test('a late copy of a claim that was given back is not granted', async () => {
  const [, lib] = clients[0] as (typeof clients)[0];
  const client = new lib.Redis(sharedUrl());
  const prefix = freshPrefix();
  const store = redisStore(client, { prefix });
  const claim = own(await store.claim('a', lifetimes));
  const token = (await client.get(`${prefix}a`))?.split(' ')[2] as string;
  await claim.release();
  expect(claimScript.sha).toBe(createHash('sha1').update(claimScript.text).digest('hex'));
  expect(await client.evalsha(claimScript.sha, 1, `${prefix}a`, token, '15000', '60000')).toEqual(['ended']);
  expect((await store.claim('a', lifetimes)).state).toBe('mine');
  await client.quit();
});
