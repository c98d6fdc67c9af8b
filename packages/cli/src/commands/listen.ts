import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { Command } from 'commander';
import { exit, unable } from '../exit.ts';
import { collect, httpUrl, numberOption, SECRET_VARIABLE, secretsFrom } from '../input.ts';
import type { Capture } from '../listen/capture.ts';
import { makeListener, type PageFile } from '../listen/server.ts';
import type { SetExit } from '../program.ts';
import { colour, note, print, safe } from '../terminal.ts';

interface Options {
  readonly port: number;
  readonly host: string;
  readonly secret?: string[];
  readonly forwardTo?: string;
  readonly timeout: number;
  readonly tolerance: number;
  readonly json?: boolean;
}

/** `listen`: a local receiver with a live page. */
export function listenCommand(setExit: SetExit): Command {
  return new Command('listen')
    .summary('show every delivery as it comes, on a live page')
    .description(
      'Receives deliveries on this machine and shows each on a live page: whether it verifies and why not, whether it ' +
        'repeats an earlier one, both envelopes side by side. Passes them on to your app, and sends them again on a click.',
    )
    .option('--port <port>', 'the port; 0 for any free one', numberOption('--port', 0, 65_535), 4100)
    .option('--secret <secret>', `the endpoint's secret; repeatable (default: ${SECRET_VARIABLE})`, collect)
    .option('--forward-to <url>', "your own app's URL; its answer is given back")
    .option('--host <address>', 'the address to listen on; others than this machine can then reach it', '127.0.0.1')
    .option('--timeout <seconds>', 'how long your app is waited for', numberOption('--timeout', 1, 30), 10)
    .option('--tolerance <seconds>', 'accepted clock difference', numberOption('--tolerance', 1, 86_400), 300)
    .option('--json', 'print one JSON object per line: where it listens, then each delivery')
    .addHelpText(
      'after',
      `
Examples:
  $ factuarea-webhook listen
  $ factuarea-webhook listen --secret whsec_… --forward-to http://localhost:3000/factuarea/webhook
  $ factuarea-webhook listen --json | jq -r .event.type

Deliveries are taken at every path. The link to the page holds a key, since deliveries are invoices; through a tunnel
the page is not shown. Without a secret, nothing is verified. Ends with Ctrl-C.`,
    )
    .action(async (options: Options) => {
      const { server, history, key } = makeListener({
        secrets: secretsFrom(options.secret),
        toleranceSeconds: options.tolerance,
        forwardTo: options.forwardTo === undefined ? undefined : httpUrl(options.forwardTo),
        timeoutSeconds: options.timeout,
        host: options.host,
        files: await pageFiles(),
      });
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(options.port, options.host, resolve);
      }).catch((error: NodeJS.ErrnoException) => {
        const why = error.code === 'EADDRINUSE' ? 'it is in use. Give another --port, or 0 for any' : error.message;
        throw unable(`Cannot listen on ${options.host}:${options.port}: ${why}.`, error);
      });
      const { port } = server.address() as AddressInfo;
      const shown = options.host === '0.0.0.0' || options.host === '::' ? 'localhost' : options.host;
      const url = `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}/`;
      const page = `${url}#key=${key}`;
      if (options.json) print(JSON.stringify({ listening: url, page }));
      else introduce(url, page, options);
      history.watch((one) => {
        if (one.answer) print(options.json ? JSON.stringify(one) : line(one));
      });
      await new Promise<void>((resolve) => {
        process.once('SIGINT', resolve);
        process.once('SIGTERM', resolve);
      });
      server.close();
      server.closeAllConnections();
      setExit(exit.ok);
    });
}

function introduce(url: string, page: string, { forwardTo, secret }: Options): void {
  note(`Deliveries  ${url}  ${colour.dim('(any path)')}`);
  note(`Live page   ${colour.cyan(page)}`);
  if (forwardTo !== undefined) note(`Passed on   ${safe(forwardTo)}`);
  if (secretsFrom(secret).length === 0) {
    note(colour.yellow(`No secret is known, so nothing is verified. Set ${SECRET_VARIABLE} or give --secret.`));
  }
  note('');
}

function line({ number, at, verdict, event, findings, repeatOf, resendOf, answer, forwarded }: Capture): string {
  const mark = { good: colour.green('✔'), bad: colour.red('✖'), unchecked: colour.yellow('?') }[verdict];
  const parts = [
    colour.dim(at.slice(11, 19)),
    mark,
    `#${number}`,
    safe(event ? `${event.type} ${event.id}` : 'no event'),
    answer && `→ ${answer.status}`,
    forwarded && colour.dim(`(your app, ${forwarded.error ? safe(forwarded.error) : `${forwarded.ms} ms`})`),
    resendOf !== undefined && colour.dim(`sent again from #${resendOf}`),
    repeatOf !== undefined && colour.dim(`repeats #${repeatOf}`),
  ];
  const reasons = findings.map(({ problem }) => `\n         ${colour.dim(safe(problem))}`);
  return parts.filter(Boolean).join(' ') + reasons.join('');
}

async function pageFiles(): Promise<Record<string, PageFile>> {
  const load = async (name: string, type: string): Promise<PageFile> => ({
    type: `${type}; charset=utf-8`,
    text: await readFile(new URL(`./pages/${name}`, import.meta.url), 'utf8'),
  });
  return {
    '/': await load('listen.html', 'text/html'),
    '/_listen/page.js': await load('listen.js', 'text/javascript'),
    '/_listen/page.css': await load('listen.css', 'text/css'),
  };
}
