import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The script behind a package's command, for `node`. Not `.bin`, whose shims are shell scripts. */
export const command = {
  attw: `${root}node_modules/@arethetypeswrong/cli/dist/index.js`,
  jest: `${root}node_modules/jest/bin/jest.js`,
  pnpm: `${root}node_modules/.bin/pnpm`,
  publint: `${root}node_modules/publint/src/cli.js`,
  typescript: `${root}node_modules/typescript/bin/tsc`,
};

/** Runs a program to its end. Gives what it printed; rejects with all of it where it fails. */
export function run(program, args, { cwd = root, env = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let all = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      all += chunk;
    });
    child.stderr.on('data', (chunk) => (all += chunk));
    child.on('error', reject);
    child.on('close', (code, signal) =>
      code === 0 ? resolve(stdout) : reject(new Error(`${[program, ...args].join(' ')}: ${signal ?? code}\n${all}`)),
    );
  });
}

/** Does `work` for every item, as many at once as the machine has processors. */
export async function inParallel(items, work) {
  const waiting = [...items];
  await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
    }),
  );
}

/** Runs the checks, tells of each, and gives the exit code. */
export async function report(checks) {
  let failed = 0;
  await inParallel(checks, async ({ title, check }) => {
    const startedAt = performance.now();
    const error = await check().then(
      () => undefined,
      (reason) => reason,
    );
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${error ? 'FAIL' : 'ok  '}  ${title} (${seconds} s)`);
    if (!error) return;
    failed += 1;
    console.log(String(error.message ?? error).replace(/^/gm, '      '));
  });
  console.log(`pack-check: ${checks.length - failed} of ${checks.length} as they should be`);
  return failed === 0 && checks.length > 0 ? 0 : 1;
}
