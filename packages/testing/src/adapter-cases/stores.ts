import assert from 'node:assert/strict';
import { retried } from '../contract-probe.ts';
import { faultyId } from '../contract-store.ts';
import { uuidV7 } from '../uuid.ts';
import type { Case } from './case.ts';

/** What is answered when the store fails, at the claim or when the claim is settled. */
export const storeFaultCases: readonly Case[] = [
  {
    id: 'store-down',
    title: 'a store that fails at the claim: 503 without a run',
    async run(probe) {
      const event = probe.event(['succeed'], { id: faultyId('claim_fails', uuidV7()) });
      probe.isAnswer(await probe.send(event), 503, 'store_unavailable');
      assert.deepEqual(await probe.runs(event.id), []);
    },
  },
  {
    id: 'store-hangs',
    title: 'a store that never answers: 503 within its time limit',
    async run(probe) {
      const event = probe.event(['succeed'], { id: faultyId('claim_hangs', uuidV7()) });
      const answer = await probe.send(event);
      probe.isAnswer(answer, 503, 'store_unavailable');
      assert.ok(answer.durationMs < 1500, `answered after ${answer.durationMs} ms`);
      assert.deepEqual(await probe.runs(event.id), []);
    },
  },
  {
    id: 'unrecorded',
    title: 'handled but not recorded, since the claim had been lost: 200, and told to the log',
    async run(probe) {
      const event = probe.event(['succeed'], { id: faultyId('done_lost', uuidV7()) });
      const answer = await probe.send(event);
      if (probe.form === 'handler') probe.isAnswer(answer, 200, 'handled_unrecorded');
      else probe.isHandled(answer);
      assert.equal((await probe.outcomes(event.id))[0]?.code, 'handled_unrecorded');
    },
  },
  {
    id: 'marker-fails',
    title: 'a marker that cannot be written in time: 200, and it is written later',
    forms: ['handler'],
    async run(probe) {
      const event = probe.event(['succeed'], { id: faultyId('done_fails', uuidV7()) });
      probe.isAnswer(await probe.send(event), 200, 'handled_unrecorded');
      probe.isAnswer(await retried(probe, event), 200, 'repeat');
      assert.equal((await probe.runs(event.id)).length, 1);
    },
  },
  {
    id: 'commit-failed',
    title: 'a commit that fails or whose outcome is unknown: 503, and nothing of a route’s own 200',
    async run(probe) {
      const event = probe.event(['succeed'], { id: faultyId('commit_fails', uuidV7()) });
      const answer = await probe.send(event);
      probe.isAnswer(answer, 503, 'commit_failed');
    },
  },
  {
    id: 'commit-rolled-back',
    title: 'a commit that the database rolled back: 500',
    async run(probe) {
      const event = probe.event(['succeed'], { id: faultyId('commit_rolled_back', uuidV7()) });
      probe.isAnswer(await probe.send(event), 500, 'commit_failed');
    },
  },
  {
    id: 'release-fails',
    title: 'a claim that cannot be freed changes no answer',
    async run(probe) {
      const event = probe.event(['throw'], { id: faultyId('release_fails', uuidV7()) });
      const answer = await probe.send(event);
      if (probe.form === 'handler') probe.isAnswer(answer, 500, 'handler_failed');
      else assert.equal(answer.status, 500);
    },
  },
];
