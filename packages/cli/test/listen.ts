import type { ChildProcess } from 'node:child_process';
import type { Capture } from '../src/listen/capture.ts';
import { start } from './run.ts';

/** A running `listen --json`. */
export interface Listening {
  /** Where deliveries go. */
  readonly url: string;
  /** The link to the page, with its key. */
  readonly page: string;
  readonly key: string;
  readonly child: ChildProcess;
  /** The next delivery that it prints. */
  next(): Promise<Capture>;
  close(): Promise<number | null>;
}

export async function startListening(...args: string[]): Promise<Listening> {
  const child = start(['listen', '--port', '0', '--json', ...args]);
  const lines: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  let rest = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      const take = waiting.shift();
      if (take) take(line);
      else lines.push(line);
    }
  });
  const nextLine = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const line = lines.shift();
      if (line !== undefined) return resolve(line);
      waiting.push(resolve);
      child.once('close', (code) => reject(new Error(`listen ended with ${code}.`)));
    });
  const { listening, page } = JSON.parse(await nextLine()) as { listening: string; page: string };
  return {
    url: listening,
    page,
    key: new URL(page).hash.replace('#key=', ''),
    child,
    next: async () => JSON.parse(await nextLine()) as Capture,
    async close() {
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
      child.kill('SIGINT');
      return ended;
    },
  };
}
