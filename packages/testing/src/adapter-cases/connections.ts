import assert from 'node:assert/strict';
import { COPIES } from '../contract-behaviour.ts';
import { type Probe, type ProbeEvent, retried, until } from '../contract-probe.ts';
import { Connection } from '../raw-client.ts';
import type { Case } from './case.ts';

/** The connection carries another delivery, or has been closed: nothing of the refused body is taken for a request. */
async function usableOrClosed(probe: Probe, connection: Connection): Promise<void> {
  const next = probe.event();
  const answer = await probe.send(next, { on: connection }).catch((error: unknown) => {
    if (connection.ended) return undefined;
    throw error;
  });
  if (answer) probe.isHandled(answer);
  connection.destroy();
}

async function leaveMidBody(probe: Probe, event: ProbeEvent): Promise<void> {
  const connection = await Connection.open(probe.url);
  await connection.write(await probe.head(event));
  await connection.write(event.body.subarray(0, 40));
  connection.destroy();
}

/** Connections: other methods, keep-alive, senders that leave. */
export const connectionCases: readonly Case[] = [
  ...(['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'] as const).map(
    (method): Case => ({
      id: `method-${method.toLowerCase()}`,
      title: `${method} is answered 405 with Allow: POST`,
      async run(probe) {
        const event =
          method === 'PUT' || method === 'PATCH' ? probe.event() : { id: probe.event().id, body: new Uint8Array(0) };
        const answer = await probe.send(event, { method });
        if (method !== 'HEAD') probe.isAnswer(answer, 405, 'method_not_allowed');
        assert.equal(answer.status, 405);
        assert.equal(answer.headers['allow'], 'POST');
        await probe.untouched(event.id);
      },
    }),
  ),
  {
    id: 'method-body-unread',
    title: 'a PUT is answered without its body being waited for',
    async run(probe) {
      const connection = await Connection.open(probe.url);
      await connection.write(await probe.head(probe.event(), { method: 'PUT' }));
      probe.isAnswer(await connection.answer('PUT'), 405, 'method_not_allowed');
      connection.destroy();
    },
  },
  {
    id: 'keep-alive',
    title: 'one connection carries one delivery after another',
    async run(probe) {
      const connection = await Connection.open(probe.url);
      for (const _ of [1, 2, 3]) probe.isHandled(await probe.send(probe.event(), { on: connection }));
      connection.destroy();
    },
  },
  {
    id: 'keep-alive-after-refusal',
    title: 'after a refused body the connection is usable, or closed',
    async run(probe) {
      const refusals = [
        { attempt: { signature: null }, status: 401 },
        { attempt: { headers: { 'Content-Encoding': 'gzip' } }, status: 415 },
        { attempt: { method: 'PUT' }, status: 405 },
      ];
      for (const { attempt, status } of refusals) {
        const connection = await Connection.open(probe.url);
        const answer = await probe.send(probe.event(), { ...attempt, on: connection });
        assert.equal(answer.status, status);
        await usableOrClosed(probe, connection);
      }
    },
  },
  {
    id: 'keep-alive-after-too-large',
    title: 'after a body over the limit, sent to its end, the connection is usable, or closed',
    async run(probe) {
      for (const chunked of [false, true]) {
        const connection = await Connection.open(probe.url);
        const { id, body } = probe.event();
        const large = Buffer.concat([body, Buffer.alloc(probe.config.bodyLimit, ' ')]);
        const answer = await probe.send({ id, body: large }, { chunked, on: connection });
        probe.isAnswer(answer, 413, 'body_too_large');
        await usableOrClosed(probe, connection);
      }
    },
  },
  {
    id: 'expect-continue',
    title: 'a sender that waits for “100 Continue” before a body gets it',
    async run(probe) {
      const event = probe.event();
      const connection = await Connection.open(probe.url);
      await connection.write(await probe.head(event, { headers: { Expect: '100-continue' } }));
      await until('100 Continue comes', async () => connection.answered);
      await connection.write(event.body);
      probe.isHandled(await connection.answer());
      connection.destroy();
    },
  },
  {
    id: 'gone-mid-body',
    title: '50 senders go away in the middle of a body: nothing is claimed, and the next delivery is handled',
    async run(probe) {
      const events = Array.from({ length: 50 }, () => probe.event());
      await Promise.all(events.map((event) => leaveMidBody(probe, event)));
      probe.isHandled(await probe.send(probe.event()));
      for (const event of events.slice(0, 5)) await probe.untouched(event.id);
      probe.isHandled(await probe.send(events[0] as ProbeEvent));
    },
  },
  {
    id: 'gone-mid-handler',
    title: 'the sender goes away while the event is handled: copies are answered 503, and 200 once it is done',
    async run(probe) {
      const event = probe.event(['copied']);
      await probe.sendAndLeave(event);
      for (let i = 0; i < COPIES; i++) probe.isAnswer(await probe.send(event), 503, 'in_progress');
      probe.isAnswer(await retried(probe, event), 200, 'repeat');
      assert.equal((await probe.runs(event.id)).length, 1);
    },
  },
];
