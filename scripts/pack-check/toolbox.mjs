import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root, run } from './run.mjs';

/** What strangers have and the workspace does not. Kept out of its lockfile: three Nodes take 600 MB. */
const dependencies = {
  node22: 'npm:node@22.23.3',
  node24: 'npm:node@24.9.0',
  node26: 'npm:node@26.9.0',
  'typescript5.0': 'npm:typescript@5.0.4',
  'typescript5.6': 'npm:typescript@5.6.3',
  'typescript5.9': 'npm:typescript@5.9.3',
  jest29: 'npm:jest@29.7.0',
};

/** Installs the toolbox once per list of versions, and gives the path to its packages. */
export async function installToolbox() {
  const manifest = JSON.stringify({ private: true, dependencies });
  const hash = createHash('sha256').update(manifest).digest('hex').slice(0, 12);
  const folder = join(root, 'node_modules/.cache/pack-check', hash);
  if (!existsSync(folder)) {
    console.log('Fetching Node 22, 24 and 26, TypeScript 5.0, 5.6 and 5.9 and Jest 29 (once) …');
    const building = `${folder}.${process.pid}`;
    await mkdir(building, { recursive: true });
    await writeFile(join(building, 'package.json'), manifest);
    try {
      // npm, because its layout is flat and it runs the scripts by which the `node` packages fetch their binary.
      await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], { cwd: building });
      await rename(building, folder);
    } finally {
      await rm(building, { recursive: true, force: true });
    }
  }
  return join(folder, 'node_modules');
}
