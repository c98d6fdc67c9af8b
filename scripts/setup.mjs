/**
 * Makes a fresh clone ready: `node scripts/setup.mjs [--build]`. Needs Node and npm, and nothing that has to be
 * installed first. Says one line per step that had something to do, and nothing where all is ready.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { engines, packageManager } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

/** In this order. Each looks for itself whether there is something to do. */
const steps = [checkNode, install, ...(process.argv.includes('--build') ? [build] : [])];

for (const step of steps) {
  try {
    await step();
  } catch (error) {
    console.error(`\nsetup: ${error.message}`);
    process.exit(1);
  }
}

async function checkNode() {
  const wanted = engines.node.replace('>=', '');
  const [major, minor] = wanted.split('.').map(Number);
  const [ours, oursMinor] = process.versions.node.split('.').map(Number);
  if (ours > major || (ours === major && oursMinor >= minor)) return;
  throw new Error(`Node ${process.versions.node} is too old: ${wanted} or newer is needed. See https://nodejs.org.`);
}

async function install() {
  // A hash and not a date: a checkout changes the dates of files that it leaves as they were.
  const state = createHash('sha256');
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml']) state.update(readFileSync(root + file));
  const wanted = state.digest('hex');
  const marker = `${root}node_modules/.installed`;
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return;
  // Through npx, because Corepack refuses the signatures of current releases on Node 20. CI=true: never ask.
  await run('Installing packages', 'npx', ['--yes', packageManager, 'install', '--frozen-lockfile'], { CI: 'true' });
  writeFileSync(marker, wanted);
}

async function build() {
  const args = ['node_modules/turbo/bin/turbo', 'run', 'build', '--ui=stream', '--output-logs=errors-only'];
  await run('Building', process.execPath, args, {
    TURBO_TELEMETRY_DISABLED: '1',
    // turbo looks for a `pnpm` on the PATH, and a new machine has none but ours.
    PATH: `${root}node_modules/.bin:${process.env.PATH}`,
  });
}

/** Runs a command, telling so only when it takes noticeably long, and showing its output only when it fails. */
async function run(title, command, args, env) {
  const startedAt = performance.now();
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`;
  let told = false;
  const timer = setTimeout(() => {
    told = true;
    process.stdout.write(`setup: ${title} … `);
  }, 1500);
  let output = '';
  const code = await new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('error', reject);
    child.on('close', resolve);
  }).finally(() => clearTimeout(timer));
  if (told) console.log(code === 0 ? `done in ${seconds()}` : `failed after ${seconds()}`);
  if (code === 0) return;
  process.stderr.write(output);
  throw new Error(`${title} failed: ${[command, ...args].join(' ')} ended with ${code}. Its output stands above.`);
}
