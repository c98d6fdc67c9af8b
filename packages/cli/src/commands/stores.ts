import { Command, Option } from 'commander';
import { exit, usageError } from '../exit.ts';
import { numberOption } from '../input.ts';
import type { SetExit } from '../program.ts';
import { type OpenStore, openStore, reworded, type Stats, type StoreOptions } from '../stores/open.ts';
import { colour, columns, print, printJson, progress } from '../terminal.ts';

interface Options extends StoreOptions {
  readonly json?: boolean;
}

const URLS = 'sqlite:<path>, postgres://…, mysql://… or redis://…';
const install = `
The driver and the store's package are taken from the project that you run this in:
  sqlite    npm install @factuarea-webhook/sqlite better-sqlite3   (from Node 24 on, no driver is needed)
  postgres  npm install @factuarea-webhook/postgres pg
  mysql     npm install @factuarea-webhook/mysql mysql2
  redis     npm install @factuarea-webhook/redis ioredis`;

function storeCommand(name: string, summary: string, example: string): Command {
  return new Command(name)
    .summary(summary)
    .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
    .argument('<storeUrl>', URLS)
    .option('--table <name>', "the store's option `table`")
    .option('--prefix <prefix>', "the Redis store's option `prefix`")
    .addOption(new Option('--mode <mode>', "the store's option `mode`").choices(['lease', 'transaction']))
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', `\nExamples:\n${example}\n${install}`);
}

/** `prune`: deletes old ids. */
export function pruneCommand(setExit: SetExit): Command {
  return storeCommand(
    'prune',
    'delete the ids that are no longer needed',
    `  $ factuarea-webhook prune postgres://localhost/app
  $ factuarea-webhook prune sqlite:./app.db --older-than 30`,
  )
    .option(
      '--older-than <days>',
      'delete ids done before this; at least 7, since retries go on for five days and replays for 90',
      numberOption('--older-than', 7, 36_500),
      90,
    )
    .action((url: string, options: Options & { readonly olderThan: number }) =>
      withStore(url, options, 'Deleting…', async ({ store, name }) => {
        const olderThan = new Date(Date.now() - options.olderThan * 86_400_000);
        const deleted = (await store.prune?.({ olderThan })) ?? 0;
        if (options.json) printJson({ store: name, olderThan, deleted });
        else if (!store.prune) print('Nothing to do: in Redis, ids end by themselves.');
        else print(`${deleted} ids done before ${olderThan.toISOString().slice(0, 10)} deleted from ${name}.`);
        setExit(exit.ok);
      }),
    );
}

/** `migrate`: creates the table. */
export function migrateCommand(setExit: SetExit): Command {
  return storeCommand(
    'migrate',
    'create the table where it is missing',
    `  $ factuarea-webhook migrate postgres://localhost/app
  $ factuarea-webhook migrate mysql://localhost/app --table billing_events --json`,
  ).action((url: string, options: Options) =>
    withStore(
      url,
      options,
      'Looking at the table…',
      async ({ store, name }) => {
        await store.migrate?.();
        if (options.json) printJson({ store: name, ready: true });
        else print(store.migrate ? `The table in ${name} is ready.` : 'Nothing to do: Redis has no tables.');
        setExit(exit.ok);
      },
      true,
    ),
  );
}

/** `status`: counts and dates the ids that are kept. */
export function statusCommand(setExit: SetExit): Command {
  return storeCommand(
    'status',
    'count and date the ids that are kept',
    `  $ factuarea-webhook status postgres://localhost/app
  $ factuarea-webhook status redis://localhost --prefix billing: --json`,
  ).action((url: string, options: Options) =>
    withStore(url, options, 'Counting…', async ({ store, name }) => {
      const stats = await store.stats();
      if (options.json) printJson({ store: name, ...stats });
      else show(name, stats);
      setExit(exit.ok);
    }),
  );
}

async function withStore(
  url: string,
  { table, prefix, mode, json }: Options,
  text: string,
  work: (open: OpenStore) => Promise<void>,
  mayCreate = false,
): Promise<void> {
  if (url.trim() === '') throw usageError(`Give a store URL: ${URLS}.`);
  const shown = progress(text, json);
  let open: OpenStore | undefined;
  try {
    open = await openStore(url, { table, prefix, mode }, mayCreate);
    await work(open);
  } catch (error) {
    throw reworded(error, url);
  } finally {
    shown.stop();
    await open?.close().catch(() => {});
  }
}

const MOST_DAYS = 30;

function show(name: string, { count, oldest, newest, byDay }: Stats): void {
  print(`${colour.bold(String(count))} ids in ${name}`);
  if (!oldest || !newest) return;
  print(`${colour.dim('oldest')}  ${oldest.toISOString()}`);
  print(`${colour.dim('newest')}  ${newest.toISOString()}\n`);
  const days = everyDay(byDay);
  const most = Math.max(...days.map(([, of]) => of));
  const width = columns() - 24;
  for (const [day, of] of days) {
    const bar = '█'.repeat(of === 0 ? 0 : Math.max(1, Math.round((of / most) * width)));
    print(`${day}  ${colour.cyan(bar)}${bar ? ' ' : ''}${of}`);
  }
}

/** The last days up to the newest id, those without ids too. */
function everyDay(byDay: Readonly<Record<string, number>>): [string, number][] {
  const known = Object.keys(byDay).sort();
  const last = Date.parse(known.at(-1) ?? '');
  const first = Math.max(Date.parse(known[0] ?? ''), last - (MOST_DAYS - 1) * 86_400_000);
  const days: [string, number][] = [];
  for (let at = first; at <= last; at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10);
    days.push([day, byDay[day] ?? 0]);
  }
  return days;
}
