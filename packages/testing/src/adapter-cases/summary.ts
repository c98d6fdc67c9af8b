import assert from 'node:assert/strict';
import { PAYLOAD_MARK, until } from '../contract-probe.ts';
import type { Case } from './case.ts';

const forms = ['handler'] as const;

/** What must hold of all that has happened in both forms. */
export const summaryCases: readonly Case[] = [
  {
    id: 'logs-discreet',
    title: 'no secret, digest or payload has come into the log or into an outcome',
    forms,
    async run(probe) {
      probe.isHandled(await probe.send(probe.event()));
      const { logs, outcomes } = await probe.state();
      const told = [...logs, JSON.stringify(outcomes)].join('\n');
      const { company, account } = probe.config.secrets;
      for (const text of [company, company.slice(6), account, account.slice(6), PAYLOAD_MARK]) {
        assert.ok(!told.includes(text), 'a secret or a payload has been logged');
      }
      assert.doesNotMatch(told, /[0-9a-f]{64}/);
    },
  },
  {
    id: 'one-outcome-each',
    title: 'every request has been reported once',
    forms,
    async run(probe) {
      const event = probe.event();
      await probe.send(event);
      await probe.send(event);
      assert.deepEqual(
        (await probe.outcomes(event.id)).map(({ code, status, deliveryId }) => [code, status, deliveryId]),
        [
          ['handled', 200, event.id],
          ['repeat', 200, event.id],
        ],
      );
    },
  },
  {
    id: 'claims-settled',
    title: 'no claim has been left behind by a run that ended',
    forms,
    async run(probe) {
      await until('every claim is settled', async () => {
        const { store, runs } = await probe.state();
        const open = runs.filter(({ id, ended }) => {
          const calls = store.filter((one) => one.id === id);
          const claims = calls.filter(({ result }) => result === 'mine').length;
          const ends = calls.filter(
            ({ call, result }) => call === 'release' || call === 'abandon' || (call === 'done' && result),
          ).length;
          return ended !== undefined && ends < claims;
        });
        return open.length === 0;
      });
    },
  },
  {
    id: 'nothing-unhandled',
    title: 'no rejection and no exception has gone unhandled',
    forms,
    async run(probe) {
      assert.deepEqual((await probe.state()).unhandled, []);
    },
  },
];
