import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type AdapterSubject, adapterContract } from '@factuarea-webhook/testing';
import { afterAll, beforeAll, describe, test } from '@jest/globals';

const folder = join(__dirname, '..');

/** Runs the contract against a child process that serves the app made by `maker`. */
export function judge(
  maker: 'fetch' | 'hono',
  runtime: string,
  command: string,
  args: string[],
  except: AdapterSubject['except'] = {},
): void {
  const name = `${maker} on ${runtime}`;
  adapterContract(
    {
      name,
      except,
      async start(config) {
        const child = spawn(command, args, {
          cwd: folder,
          env: { ...process.env, NODE_ENV: 'production', CONTRACT_APP: maker, CONTRACT_CONFIG: JSON.stringify(config) },
        });
        const ended = once(child, 'close');
        let text = '';
        const url = await new Promise<string>((resolve, reject) => {
          for (const stream of [child.stdout, child.stderr]) {
            stream.on('data', (chunk) => {
              text += chunk;
              const [, found] = /listening on (http:\S+)/.exec(text) ?? [];
              if (found) resolve(found);
            });
          }
          ended.then(() => reject(new Error(`${name} ended:\n${text}`)), reject);
        });
        return {
          url,
          async close() {
            // Not asked to end: it would wait for connections that a case has left half-sent.
            child.kill('SIGKILL');
            await ended;
          },
        };
      },
    },
    { describe, test, beforeAll, afterAll },
  );
}

/** The program of a runtime that came as a package. */
export function program(path: string): string {
  return join(folder, 'node_modules', path);
}
