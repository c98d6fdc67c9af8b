import {
  accountDelivery,
  companyDelivery,
  type DeliveryAttempt,
  deliver,
  type EndpointKind,
  type FactuareaDelivery,
  redelivery,
} from '@factuarea-webhook/testing';
import { Command, Option } from 'commander';
import { exit, messageOf, unable, usageError } from '../exit.ts';
import { collect, httpUrl, numberOption, readData, requireSecrets, SECRET_VARIABLE } from '../input.ts';
import { nextStep } from '../play/next-step.ts';
import type { SetExit } from '../program.ts';
import { colour, print, printJson, progress, safe, short } from '../terminal.ts';

interface Options {
  readonly type: string;
  readonly data?: string;
  readonly id?: string;
  readonly secret?: string[];
  readonly endpoint: EndpointKind;
  readonly twice?: boolean;
  readonly concurrent?: boolean;
  readonly timeout: number;
  readonly json?: boolean;
}

/** `send`: one signed delivery, and what Factuarea would do after its answer. */
export function sendCommand(setExit: SetExit): Command {
  return new Command('send')
    .summary('send one signed delivery')
    .description('Sends one signed delivery and says what Factuarea would do after its answer.')
    .argument('<url>', "the receiver's URL")
    .option('--type <type>', 'the event type', 'invoice.sent')
    .option('--data <file>', "JSON for the event's data; - for standard input (default: made up for the type)")
    .option('--id <id>', "the event's id (default: a new one)")
    .option(
      '--secret <secret>',
      `the endpoint's secret; twice as during a rotation (default: ${SECRET_VARIABLE})`,
      collect,
    )
    .addOption(new Option('--endpoint <kind>', 'whose envelope').choices(['company', 'account']).default('company'))
    .option('--twice', 'then a second time, as another delivery of the same event')
    .option('--concurrent', 'two copies at the same moment')
    .option('--timeout <seconds>', "the endpoint's timeout_seconds", numberOption('--timeout', 1, 30), 10)
    .option('--json', 'print the attempts as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ export FACTUAREA_WEBHOOK_SECRET=whsec_…
  $ factuarea-webhook send http://localhost:3000/factuarea/webhook
  $ factuarea-webhook send http://localhost:3000/factuarea/webhook --type invoice.paid --data paid.json --twice
  $ factuarea-webhook send http://localhost:3000/factuarea/webhook --endpoint account --concurrent --json

Exit code 0 when every copy was delivered or would be tried again after another copy was delivered, 1 otherwise, 3 when
nobody answers.`,
    )
    .action(async (given: string, options: Options) => {
      if (options.twice && options.concurrent) throw usageError('Give --twice or --concurrent, not both.');
      const url = httpUrl(given).href;
      const secret = requireSecrets(options.secret);
      const first = await build(options);
      const second = options.twice || options.concurrent ? redelivery(first) : undefined;
      const shown = progress(`Waiting for ${url}…`, options.json);
      const send = (one: FactuareaDelivery): Promise<DeliveryAttempt> =>
        deliver(url, one, { secret, timeoutSeconds: options.timeout });
      let attempts: DeliveryAttempt[];
      try {
        attempts = options.concurrent
          ? await Promise.all([first, second as FactuareaDelivery].map(send))
          : [await send(first), ...(second ? [await send(second)] : [])];
      } catch (error) {
        throw usageError(messageOf(error));
      } finally {
        shown.stop();
      }
      const copies = attempts.map((attempt, at) => ({ ...attempt, deliveryId: at === 0 ? first.id : second?.id }));
      if (options.json) printJson({ url, event: first.event, attempts: copies });
      else show(first, copies);
      if (attempts.every(({ status }) => status === undefined)) {
        throw unable(`Nobody answers at ${url}: ${attempts[0]?.error ?? 'no answer'}.`);
      }
      const closed = attempts.some(({ verdict }) => verdict === 'failed_permanently');
      const delivered = attempts.some(({ verdict }) => verdict === 'delivered');
      setExit(delivered && !closed ? exit.ok : exit.no);
    });
}

async function build({ type, endpoint, data, id }: Options): Promise<FactuareaDelivery> {
  const overrides = { ...(id !== undefined && { id }), ...(data !== undefined && { data: await readData(data) }) };
  try {
    return endpoint === 'account' ? accountDelivery(type, overrides) : companyDelivery(type, overrides);
  } catch (error) {
    throw usageError(messageOf(error));
  }
}

function show(
  { event }: FactuareaDelivery,
  copies: readonly (DeliveryAttempt & { deliveryId: string | undefined })[],
): void {
  print(`${colour.bold(safe(event.type))} ${safe(event.id)}`);
  for (const copy of copies) {
    const { status, body, durationMs, verdict, error, deliveryId } = copy;
    const paint = { delivered: colour.green, retry: colour.yellow, failed_permanently: colour.red }[verdict];
    print('');
    print(`  delivery   ${deliveryId}`);
    print(
      `  answer     ${paint(status === undefined ? safe(error ?? 'none') : String(status))} after ${Math.round(durationMs)} ms`,
    );
    if (body.trim() !== '') print(`  body       ${short(safe(body.trim()), 200)}`);
    print(`  Factuarea  ${nextStep(copy)}`);
  }
}
