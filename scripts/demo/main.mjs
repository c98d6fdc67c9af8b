import { parseArgs } from 'node:util';
import { FactuareaSender } from '@factuarea-webhook/testing';
import Table from 'cli-table3';
import pc from 'picocolors';
import { App } from './app.mjs';
import { scenarios } from './scenarios.mjs';
import { storeFor } from './stores.mjs';

const { values } = parseArgs({ options: { store: { type: 'string', default: 'sqlite' } } });
const say = (text) => console.log(pc.dim(`· ${text}`));

const secrets = {
  company: 'whsec_demoCompany7Qm2Zr9tLk4XvB1n',
  companyNext: 'whsec_demoCompanyNext5Jd8Pw3yHs6T',
  account: 'whsec_demoAccount9Xc2Vb7nMk1QwErT',
};

const started = performance.now();
const { storeUrl, stop } = await storeFor(values.store, say);
const app = new App({
  PORT: '0',
  STORE_URL: storeUrl,
  FACTUAREA_WEBHOOK_SECRET: `${secrets.company},${secrets.account}`,
  FACTUAREA_TIMEOUT_SECONDS: '1',
});

try {
  await app.start();
  say(`examples/express is listening on ${app.url}, its ids in ${values.store}`);
  const url = `${app.url}/factuarea/webhook`;
  const sender = new FactuareaSender({
    endpoints: {
      company: { url, secret: secrets.company, timeoutSeconds: 1 },
      account: { url, secret: secrets.account, timeoutSeconds: 1 },
    },
    // Factuarea's waits go from a minute to three days. These leave room for a lease of 15 s.
    calendar: [600, 1500, 5000, 9000, 2000, 2000, 2000],
    jitter: 0.02,
  });
  const rows = await perform(scenarios({ app, sender, secrets }));
  sender.close();
  const handled = await app.handled();
  show(rows, handled);
} finally {
  await app.stop();
  await stop();
}

/** Plays everything; what only waits for a lease goes on beside the rest. */
async function perform({ crash, calm, afterRestart }) {
  const rows = [];
  say('killing the app in the middle of a handler; its event will be retried while the rest goes on');
  const crashed = crash();
  // The kill and the restart come first, since nobody answers meanwhile.
  await app.restarted();
  for (const scenario of calm) {
    const row = await scenario();
    say(row.sent);
    rows.push(row);
  }
  say('waiting until the event of the killed process has been taken up (a lease lasts 15 s here)');
  rows.splice(2, 0, await crashed);
  rows.push(await afterRestart());
  return rows;
}

function show(rows, handled) {
  const table = new Table({
    head: ['', 'sent', 'came back', 'effect'].map((text) => pc.bold(text)),
    colWidths: [4, 46, 44, 9],
    wordWrap: true,
    style: { head: [], border: pc.isColorSupported ? ['gray'] : [] },
  });
  let right = 0;
  for (const { sent, answers, separator = ' → ', expected, id, effects } of rows) {
    // A long wait repeats itself; the first and the last answer tell the story.
    const told = answers.join(separator);
    const times = handled.filter((entry) => entry.id === id).length;
    const ok = expected.test(told) && (effects === undefined || times === effects);
    if (ok) right++;
    table.push([
      ok ? pc.green('✓') : pc.red('✗'),
      sent,
      ok ? colour(shorten(told)) : `${colour(told)}\n${pc.red(`expected ${expected}, ${effects} effects`)}`,
      times === 0 ? pc.dim('none') : times === 1 ? 'once' : `${times} times`,
    ]);
  }
  console.log(table.toString());
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(pc.dim(`${handled.length} effects in the app’s own list, ${seconds} s`));
  console.log(`demo: ${right} of ${rows.length} as expected`);
  if (right !== rows.length) process.exitCode = 1;
}

function shorten(told) {
  return told.replace(/(503 in_progress|no answer)( → \1)+/g, (all, one) => `${one} × ${all.split('→').length}`);
}

function colour(told) {
  return told
    .replace(/\b2\d\d \w+/g, (text) => pc.green(text))
    .replace(/\b4\d\d \w+/g, (text) => pc.yellow(text))
    .replace(/\b5\d\d \w+|no answer/g, (text) => pc.magenta(text));
}
