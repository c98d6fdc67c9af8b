import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command, root, run } from './run.mjs';

/** Optional peers that one entry point cannot do without, as its package says. */
const needed = ['fast-check'];

/** Every package that is published, or those of the named folders, with what its manifest promises. */
export async function findPackages(only) {
  const found = [];
  for (const folder of await readdir(join(root, 'packages'))) {
    if (only.length > 0 && !only.includes(folder)) continue;
    const directory = join(root, 'packages', folder);
    if (!existsSync(join(directory, 'package.json'))) continue;
    const manifest = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'));
    if (manifest.private) continue;
    if (!existsSync(join(directory, 'dist'))) throw new Error(`${manifest.name} is not built. First: npm run build`);
    const entries = Object.entries(manifest.exports ?? {})
      .filter(([, target]) => typeof target === 'object')
      .map(([path]) => manifest.name + path.slice(1));
    const bins = typeof manifest.bin === 'string' ? [manifest.bin] : Object.values(manifest.bin ?? {});
    // An adapter's user has the framework, so its consumer gets it too; what is optional must not be needed.
    const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
      (peer) => needed.includes(peer) || !manifest.peerDependenciesMeta?.[peer]?.optional,
    );
    found.push({ folder, directory, name: manifest.name, entries, bins, peers });
  }
  return found;
}

/** Packs as a release would, and gives the tarball's path. */
export async function pack({ directory }, into) {
  return JSON.parse(await run(command.pnpm, ['-C', directory, 'pack', '--pack-destination', into, '--json'])).filename;
}

export function lintTarball({ name, tarball, entries }) {
  const publint = {
    title: `publint   ${name}`,
    check: () => run(process.execPath, [command.publint, 'run', tarball, '--strict']),
  };
  // Every supported Node resolves by `exports`, so the resolution that knows only `main` is left out.
  const attw = {
    title: `attw      ${name}`,
    check: () => run(process.execPath, [command.attw, '--profile', 'node16', '--no-emoji', tarball]),
  };
  return entries.length > 0 ? [publint, attw] : [publint];
}
