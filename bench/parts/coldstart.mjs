import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compared, counted } from '../figures.mjs';

export const title = 'Cold start and size';

export const method = `The time of \`import\` in a new process, each entry point with everything it loads, and the bytes that installing a
package puts on the disk: its own files and those of its dependencies. Frameworks and drivers are the app's own and are not
counted. What Node itself takes to start is not counted either.`;

const rivals = ['stripe', 'svix'];
const packages = fileURLToPath(new URL('../../packages/', import.meta.url));
const own = ['core', 'node', 'express', 'fastify', 'hono', 'next', 'postgres', 'redis', 'mysql', 'sqlite'];

export async function run({ quick, figure }) {
  const entries = own.flatMap(entryPoints);
  const theirs = Object.fromEntries(rivals.map((name) => [name, import.meta.resolve(name)]));
  for (const { name, url } of entries) {
    const times = importTimes({ ours: url, ...theirs }, quick ? 1 : 11);
    for (const rival of rivals) {
      const facts = { better: 'lower', unit: 'ms' };
      figure({ id: `import-${name}-vs-${rival}`, ...compared(times.ours, times[rival]), ...facts });
    }
  }
  const sizeOf = Object.fromEntries(rivals.map((name) => [name, installedSize(folderOf(name, import.meta.url))]));
  for (const name of own) {
    const kilobytes = installedSize(realpathSync(join(packages, name))) / 1024;
    for (const rival of rivals) {
      const facts = { better: 'lower', unit: 'KB' };
      figure({ id: `size-${name}-vs-${rival}`, ...counted(kilobytes, sizeOf[rival] / 1024), ...facts });
    }
  }
}

/** What of a package can be imported, as it is published. */
function entryPoints(name) {
  const folder = join(packages, name);
  return Object.entries(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).exports)
    .filter(([, target]) => target.import)
    .map(([path, target]) => ({
      name: join(name, path).replaceAll('/', '-'),
      url: pathToFileURL(join(folder, target.import)).href,
    }));
}

function importTimes(urls, rounds) {
  const names = Object.keys(urls);
  const times = Object.fromEntries(names.map((name) => [name, []]));
  // The first round fills the disk's cache.
  for (let round = 0; round <= rounds; round++) {
    for (const name of round % 2 ? names : names.toReversed()) {
      const code = `const start = performance.now(); await import(${JSON.stringify(urls[name])}); console.log(performance.now() - start); process.exit()`;
      const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
      if (!stdout) throw new Error(`${name} could not be imported.\n${stderr}`);
      if (round > 0) times[name].push(Number(stdout));
    }
  }
  return times;
}

/** The bytes of a package and of all that it depends on. Of our own, only what is published. */
function installedSize(folder, seen = new Set()) {
  if (seen.has(folder)) return 0;
  seen.add(folder);
  const manifest = join(folder, 'package.json');
  const { dependencies = {}, files } = JSON.parse(readFileSync(manifest, 'utf8'));
  const isOurs = folder.startsWith(packages);
  const parts = isOurs ? ['package.json', 'README.md', ...files] : readdirSync(folder);
  let bytes = 0;
  for (const part of parts) if (part !== 'node_modules') bytes += bytesIn(join(folder, part));
  for (const name of Object.keys(dependencies)) bytes += installedSize(folderOf(name, pathToFileURL(manifest)), seen);
  return bytes;
}

function bytesIn(path) {
  if (!existsSync(path)) return 0;
  const state = statSync(path);
  if (!state.isDirectory()) return state.size;
  return readdirSync(path).reduce((sum, name) => sum + bytesIn(join(path, name)), 0);
}

/** Where a package is installed, as seen from a file that imports it. */
function folderOf(name, from) {
  const found = createRequire(from)
    .resolve.paths(name)
    .find((folder) => existsSync(join(folder, name, 'package.json')));
  if (!found) throw new Error(`${name} is not installed.`);
  return realpathSync(dirname(join(found, name, 'package.json')));
}
