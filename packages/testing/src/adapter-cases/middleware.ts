import assert from 'node:assert/strict';
import { COPIES, STREAM_CHUNK_BYTES, STREAM_CHUNKS } from '../contract-behaviour.ts';
import { retried } from '../contract-probe.ts';
import { faultyId } from '../contract-store.ts';
import { uuidV7 } from '../uuid.ts';
import type { Case } from './case.ts';

const forms = ['middleware'] as const;

/** What is particular where the app's own route answers. */
export const middlewareCases: readonly Case[] = [
  {
    id: 'route-2xx',
    title: 'any 2xx of the route settles the event, and goes out as it is',
    forms,
    async run(probe) {
      for (const status of [200, 201, 202, 204]) {
        const event = probe.event([`status:${status}`]);
        const answer = await probe.send(event);
        assert.equal(answer.status, status);
        assert.equal(answer.headers['x-app'], 'contract');
        assert.equal(answer.body.toString(), status === 204 ? '' : `app:${status}`);
        probe.isAnswer(await probe.send(event), 200, 'repeat');
      }
    },
  },
  {
    id: 'route-not-2xx',
    title: 'any other status of the route frees the event, and goes out as it is',
    forms,
    async run(probe) {
      for (const status of [302, 404, 418, 429, 500, 503]) {
        const event = probe.event([`status:${status}`, 'succeed']);
        const answer = await probe.send(event);
        assert.equal(answer.status, status);
        assert.equal(answer.headers['x-app'], 'contract');
        assert.equal(answer.body.toString(), `app:${status}`);
        probe.isHandled(await probe.send(event));
        assert.deepEqual(await probe.calls(event.id), ['claim mine', 'release undefined', 'claim mine', 'done true']);
      }
    },
  },
  {
    id: 'route-slow',
    title: 'a route that takes longer than the deadline answers for itself',
    forms,
    async run(probe) {
      const event = probe.event(['slow:900']);
      probe.isHandled(await probe.send(event));
      probe.isAnswer(await probe.send(event), 200, 'repeat');
    },
  },
  {
    id: 'route-closes',
    title: 'a route that breaks the connection off frees the event at once',
    forms,
    async run(probe) {
      const event = probe.event(['close', 'succeed']);
      const answer = await probe.send(event).catch(() => undefined);
      assert.ok(answer === undefined || answer.status === 500, `answered ${answer?.status}`);
      probe.isHandled(await retried(probe, event));
      assert.deepEqual(await probe.calls(event.id), ['claim mine', 'release undefined', 'claim mine', 'done true']);
    },
  },
  {
    id: 'route-limit',
    title: 'a route that never answers: 503 at the handler’s limit, where its event becomes free',
    forms,
    async run(probe) {
      const stays = probe.event(['hang', 'succeed']);
      const leaves = probe.event(['hang', 'succeed']);
      const [answer] = await Promise.all([probe.send(stays), probe.sendAndLeave(leaves)]);
      probe.isAnswer(answer, 503, 'deadline_exceeded');
      for (const event of [stays, leaves]) {
        probe.isHandled(await retried(probe, event));
        const runs = await probe.runs(event.id);
        assert.deepEqual(
          runs.map(({ aborted }) => aborted),
          ['handler_limit', undefined],
        );
      }
    },
  },
  {
    id: 'route-gone-not-2xx',
    title: 'the sender goes away, and the route answers 500: the next copy is handled',
    forms,
    async run(probe) {
      const event = probe.event(['copied:500', 'succeed']);
      await probe.sendAndLeave(event);
      for (let i = 0; i < COPIES; i++) probe.isAnswer(await probe.send(event), 503, 'in_progress');
      probe.isHandled(await retried(probe, event));
      assert.equal((await probe.runs(event.id)).length, 2);
    },
  },
  {
    id: 'route-gone-stream',
    title: 'the sender goes away, and the route answers with a stream: the event is done',
    forms,
    async run(probe) {
      const event = probe.event(['copied:stream']);
      await probe.sendAndLeave(event);
      for (let i = 0; i < COPIES; i++) probe.isAnswer(await probe.send(event), 503, 'in_progress');
      probe.isAnswer(await retried(probe, event), 200, 'repeat');
      assert.equal((await probe.runs(event.id)).length, 1);
    },
  },
  {
    id: 'stream-settled-first',
    title: 'the event is marked before the first byte of a streamed answer leaves',
    forms,
    async run(probe) {
      const event = probe.event(['stream'], { id: faultyId('done_slow', uuidV7()) });
      const answer = await probe.send(event);
      assert.equal(answer.status, 200);
      const done = (await probe.state()).store.find(({ id, call }) => id === event.id && call === 'done');
      const { endedAt = Number.POSITIVE_INFINITY } = done ?? {};
      assert.ok(answer.firstByteAt >= endedAt, `the first byte came ${endedAt - answer.firstByteAt} ms too early`);
    },
  },
  {
    id: 'settled-first',
    title: 'the event is marked before the first byte of a plain answer leaves',
    forms,
    async run(probe) {
      const event = probe.event(['succeed'], { id: faultyId('done_slow', uuidV7()) });
      const answer = await probe.send(event);
      probe.isHandled(answer);
      const done = (await probe.state()).store.find(({ id, call }) => id === event.id && call === 'done');
      assert.ok(answer.firstByteAt >= (done?.endedAt ?? Number.POSITIVE_INFINITY));
    },
  },
  {
    id: 'stream-intact',
    title: 'a streamed answer arrives whole and in order',
    forms,
    async run(probe) {
      const answer = await probe.send(probe.event(['stream']));
      assert.equal(answer.body.length, STREAM_CHUNKS * STREAM_CHUNK_BYTES);
      const whole = Array.from({ length: STREAM_CHUNKS }, (_, i) => Buffer.alloc(STREAM_CHUNK_BYTES, i));
      assert.ok(answer.body.equals(Buffer.concat(whole)), 'the bytes differ');
      assert.equal(answer.headers['x-app'], 'contract');
    },
  },
  {
    id: 'stream-commit-failed',
    title: 'a streamed answer is withheld where the commit fails: 503',
    forms,
    async run(probe) {
      const event = probe.event(['stream'], { id: faultyId('commit_fails', uuidV7()) });
      probe.isAnswer(await probe.send(event), 503, 'commit_failed');
    },
  },
  {
    id: 'repeat-not-routed',
    title: 'what the receiver answers itself never reaches the route',
    forms,
    async run(probe) {
      const event = probe.event();
      const signature = await probe.sign(event.body, undefined, `whsec_${uuidV7()}`);
      probe.isAnswer(await probe.send(event, { signature }), 401, 'invalid_signature');
      await probe.untouched(event.id);
    },
  },
];
