import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { run } from './run.mjs';

/** Bundles core for a runtime that knows nothing of Node, and uses the bundle. */
export async function bundleChecks({ folder }) {
  const outfile = join(folder, 'bundle.mjs');
  return [
    {
      title: 'bundle    core without Node’s modules, by esbuild',
      check: async () => {
        const entryPoints = [join(folder, 'web.mjs')];
        await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'browser', logLevel: 'silent' });
        if (/["']node:/.test(await readFile(outfile, 'utf8'))) throw new Error('The bundle imports a module of Node.');
        await run(process.execPath, [outfile], { cwd: folder });
      },
    },
  ];
}
