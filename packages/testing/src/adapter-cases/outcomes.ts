import assert from 'node:assert/strict';
import { retried, until } from '../contract-probe.ts';
import type { RawAnswer } from '../raw-client.ts';
import { uuidV7 } from '../uuid.ts';
import type { Case } from './case.ts';

/** Every row of the table of answers, from the moment the signature holds. */
export const outcomeCases: readonly Case[] = [
  {
    id: 'handled',
    title: 'a handled event is answered 200, after it was marked',
    async run(probe) {
      const event = probe.event();
      probe.isHandled(await probe.send(event));
      assert.deepEqual(await probe.calls(event.id), ['claim mine', 'done true']);
      const [run] = await probe.runs(event.id);
      assert.equal(run?.endpoint, 'company');
      assert.equal(run?.note, 'Peña / 1');
    },
  },
  {
    id: 'repeat',
    title: 'a repeat is answered 200 without another run, whatever its headers say',
    async run(probe) {
      const event = probe.event();
      probe.isHandled(await probe.send(event));
      probe.isAnswer(await probe.send(event), 200, 'repeat');
      const other = uuidV7();
      const headers = { 'Factuarea-Event-Id': other, 'Factuarea-Delivery-Id': other, 'Idempotency-Key': other };
      probe.isAnswer(await probe.send(event, { headers }), 200, 'repeat');
      assert.equal((await probe.runs(event.id)).length, 1);
    },
  },
  {
    id: 'twin-at-other-endpoint',
    title: 'the same event from the account endpoint, with another secret and envelope, is a repeat',
    async run(probe) {
      const company = probe.event();
      const account = probe.event(['succeed'], {
        id: company.id,
        account: { id: uuidV7() },
        account_relationship: 'managed',
        company_id: uuidV7(),
      });
      const signature = await probe.sign(account.body, undefined, probe.config.secrets.account);
      probe.isHandled(await probe.send(account, { signature }));
      const [run] = await probe.runs(account.id);
      assert.deepEqual([run?.endpoint, run?.relationship], ['account', 'managed']);
      probe.isAnswer(await probe.send(company), 200, 'repeat');
    },
  },
  {
    id: 'ids-case-sensitive',
    title: 'ids that differ in case are two events',
    async run(probe) {
      const id = `Id-${uuidV7()}`;
      probe.isHandled(await probe.send(probe.event(['succeed'], { id })));
      probe.isHandled(await probe.send(probe.event(['succeed'], { id: id.toUpperCase() })));
    },
  },
  {
    id: 'in-progress',
    title: 'a copy that comes while the first is handled gets 503 and Retry-After, and 200 afterwards',
    async run(probe) {
      const event = probe.event(['slow:500']);
      const first = probe.send(event);
      await until('the handler runs', async () => (await probe.runs(event.id))[0]);
      const second = await probe.send(event);
      probe.isAnswer(second, 503, 'in_progress');
      assert.match(second.headers['retry-after'] ?? '', /^[1-9]\d*$/);
      probe.isHandled(await first);
      probe.isAnswer(await probe.send(event), 200, 'repeat');
      assert.equal((await probe.runs(event.id)).length, 1);
    },
  },
  {
    id: 'concurrent-copies',
    title: '20 copies at once: one run, and each answer is 200 or 503 with Retry-After',
    async run(probe) {
      const event = probe.event(['slow:200']);
      const answers = await Promise.all(Array.from({ length: 20 }, () => probe.send(event)));
      const own = answers.filter(({ body }) => !/in_progress|repeat/.test(body.toString()));
      assert.equal(own.length, 1);
      probe.isHandled(own[0] as RawAnswer);
      for (const answer of answers.filter((one) => one !== own[0])) {
        if (answer.status === 200) probe.isAnswer(answer, 200, 'repeat');
        else probe.isAnswer(answer, 503, 'in_progress');
        assert.equal(answer.headers['retry-after'] !== undefined, answer.status === 503);
      }
      assert.equal((await probe.runs(event.id)).length, 1);
    },
  },
  {
    id: 'ignored',
    title: 'a type that nothing handles is answered 200 and not recorded',
    forms: ['handler'],
    async run(probe) {
      const event = probe.event(['succeed'], { type: 'constructor' });
      probe.isAnswer(await probe.send(event), 200, 'ignored');
      await probe.untouched(event.id);
    },
  },
  {
    id: 'unknown-type',
    title: 'a type that nobody knows reaches the route',
    forms: ['middleware'],
    async run(probe) {
      const event = probe.event(['succeed'], { type: 'invoice.teleported' });
      probe.isHandled(await probe.send(event));
      assert.equal((await probe.runs(event.id))[0]?.type, 'invoice.teleported');
    },
  },
  {
    id: 'pong',
    title: 'webhook.ping is answered 200 without the handler',
    async run(probe) {
      const event = probe.event(['succeed'], { type: 'webhook.ping', data: {} });
      probe.isAnswer(await probe.send(event), 200, 'pong');
      await probe.untouched(event.id);
    },
  },
  {
    id: 'handler-failed',
    title: 'a failed run is answered 500 and frees the event at once, whatever was thrown',
    async run(probe) {
      const event = probe.event(['throw', 'throw_undefined', 'succeed']);
      for (const _ of [1, 2]) {
        const answer = await probe.send(event);
        if (probe.form === 'handler') probe.isAnswer(answer, 500, 'handler_failed');
        else assert.equal(answer.status, 500);
      }
      probe.isHandled(await probe.send(event));
      probe.isAnswer(await probe.send(event), 200, 'repeat');
      assert.deepEqual(await probe.calls(event.id), [
        'claim mine',
        'release undefined',
        'claim mine',
        'release undefined',
        'claim mine',
        'done true',
      ]);
    },
  },
  {
    id: 'permanent-failure',
    title: 'a permanent failure is answered 422 and frees the event for a replay',
    forms: ['handler'],
    async run(probe) {
      const event = probe.event(['permanent', 'succeed']);
      probe.isAnswer(await probe.send(event), 422, 'permanent_failure');
      probe.isHandled(await probe.send(event));
    },
  },
  {
    id: 'deadline-exceeded',
    title: 'a handler past its deadline: 503 in time, and 200 for the retry once it has finished',
    forms: ['handler'],
    async run(probe) {
      const event = probe.event(['slow:1600']);
      const answer = await probe.send(event);
      probe.isAnswer(answer, 503, 'deadline_exceeded');
      assert.ok(answer.durationMs < 1500, `answered after ${answer.durationMs} ms`);
      probe.isAnswer(await probe.send(event), 503, 'in_progress');
      probe.isAnswer(await retried(probe, event), 200, 'repeat');
      assert.equal((await probe.runs(event.id)).length, 1);
    },
  },
  {
    id: 'handler-limit',
    title: 'the signal aborts once the handler has run for `handlerLimitSeconds`',
    forms: ['handler'],
    async run(probe) {
      const event = probe.event(['hang']);
      probe.isAnswer(await probe.send(event), 503, 'deadline_exceeded');
      const run = await until('the signal aborts', async () =>
        (await probe.runs(event.id)).find(({ aborted }) => aborted),
      );
      assert.equal(run.aborted, 'handler_limit');
    },
  },
  {
    id: 'secret-missing',
    title: 'no secret known at the request: 500, so that Factuarea comes again',
    async run(probe) {
      probe.isHandled(await probe.send(probe.event(['lose_secret'])));
      const event = probe.event();
      probe.isAnswer(await probe.send(event), 500, 'secret_missing');
      await probe.untouched(event.id);
      probe.isHandled(await probe.send(event));
    },
  },
  {
    id: 'invalid-event',
    title: 'well signed, but not an event: 400 without a claim',
    async run(probe) {
      const texts = [
        '{"id":',
        '[]',
        '"text"',
        'null',
        '{"type":"invoice.sent"}',
        '{"id":"","type":"invoice.sent"}',
        '{"id":7,"type":"a"}',
      ];
      for (const text of texts) {
        const event = { id: uuidV7(), body: Buffer.from(text) };
        probe.isAnswer(await probe.send(event), 400, 'invalid_event');
        await probe.untouched(event.id);
      }
    },
  },
];
