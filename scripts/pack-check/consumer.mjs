import { cp, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { command, root, run } from './run.mjs';

/** A stranger's project: nothing but the tarballs, what they depend on, and the frameworks that they sit in. */
export async function makeConsumer(packages, folder) {
  await mkdir(folder, { recursive: true });
  const tarballs = Object.fromEntries(packages.map(({ name, tarball }) => [name, `file:${tarball}`]));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: tarballs }));
  // The overrides make the tarballs find each other too, since their versions are not in the registry yet.
  await writeFile(
    join(folder, 'pnpm-workspace.yaml'),
    `autoInstallPeers: false\noverrides: ${JSON.stringify(tarballs)}\n`,
  );
  await run(command.pnpm, ['install', '--prefer-offline', '--ignore-scripts', '--no-frozen-lockfile'], { cwd: folder });
  for (const { directory, peers } of packages) {
    for (const peer of peers) await link(join(directory, 'node_modules', peer), join(folder, 'node_modules', peer));
  }
  // Programs in `typed` see Node's types, and those beside it do not.
  await link(join(root, 'node_modules/@types/node'), join(folder, 'typed/node_modules/@types/node'));
  const samples = join(root, 'scripts/pack-check/samples');
  await cp(samples, folder, { recursive: true });
  await mkdir(join(folder, 'jest'));
  await rename(join(folder, 'jest.cjs'), join(folder, 'jest/all.test.js'));
  await writeFile(join(folder, 'jest/package.json'), '{}');
  await writeFile(join(folder, 'entries.mjs'), imports(packages, 'import'));
  await writeFile(join(folder, 'entries.cjs'), imports(packages, 'require'));
  return { folder, packages };
}

function imports(packages, system) {
  const entries = packages.flatMap((one) => one.entries);
  const lines = entries.map((entry, at) =>
    system === 'import' ? `import * as e${at} from '${entry}';` : `const e${at} = require('${entry}');`,
  );
  const table = `{ ${entries.map((entry, at) => `'${entry}': e${at}`).join(', ')} }`;
  lines.push(system === 'import' ? `export const entries = ${table};` : `exports.entries = ${table};`);
  return `${lines.join('\n')}\n`;
}

async function link(target, path) {
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path, 'junction').catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** Whether a package's declarations need no more than its own family and, with `allowNode`, Node's types. */
export async function standsAlone({ folder }, { name, entries }, allowNode) {
  const base = join(folder, 'node_modules', name);
  const manifest = JSON.parse(await readFile(join(base, 'package.json'), 'utf8'));
  const waiting = entries.map((entry) => manifest.exports[`.${entry.slice(name.length)}`].import);
  const files = new Set(waiting.map((path) => join(base, path.replace(/\.mjs$/, '.d.mts'))));
  // A set that grows while it is walked: every declaration file that the entry points lead to.
  for (const file of files) {
    const text = (await readFile(file, 'utf8')).replace(/\/\*.*?\*\//gs, '');
    for (const [, from] of text.matchAll(/(?:from |import\(|import |types=|declare module )["']([^"']+)["']/g)) {
      if (from.startsWith('.')) files.add(join(dirname(file), from.replace(/\.mjs$/, '.d.mts')));
      else if (from.startsWith('@factuarea-webhook/')) continue;
      else if (!allowNode || !/^node(:|$)/.test(from)) return false;
    }
  }
  return true;
}
