import { join } from 'node:path';
import { command, run } from './run.mjs';

/** Loads every entry point on every supported Node, in both module systems, and under Jest as it comes. */
export async function loadChecks({ folder, packages }, toolbox) {
  const nodes = {
    [`Node ${process.versions.node.split('.')[0]}`]: process.execPath,
    'Node 22': join(toolbox, 'node22/bin/node'),
    'Node 24': join(toolbox, 'node24/bin/node'),
    'Node 26': join(toolbox, 'node26/bin/node'),
  };
  const load = async (node, file) => JSON.parse(await run(node, [file], { cwd: folder }));
  const loads = Object.entries(nodes).map(([title, node]) => ({
    title: `load      ${title}, ES modules and CommonJS`,
    check: async () => compare(await load(node, 'load.mjs'), await load(node, 'load.cjs')),
  }));
  const bins = packages.flatMap(({ name, bins: files }) =>
    files.map((file) => ({
      title: `command   ${name}`,
      check: async () => {
        const path = join(folder, 'node_modules', name, file);
        for (const node of Object.values(nodes)) await run(node, [path, '--help'], { cwd: folder });
      },
    })),
  );
  const jests = [
    ['Jest 30', command.jest],
    ['Jest 29', join(toolbox, 'jest29/bin/jest.js')],
  ].map(([title, jest]) => ({
    title: `load      ${title}, CommonJS, default configuration`,
    check: () =>
      run(process.execPath, [jest, '--ci', '--rootDir', join(folder, 'jest')], { cwd: join(folder, 'jest') }),
  }));
  return [...loads, ...bins, ...jests];
}

function compare(esm, cjs) {
  for (const [entry, names] of Object.entries(esm)) {
    const required = cjs[entry].filter((name) => name !== '__esModule');
    if (names.length === 0) throw new Error(`${entry} exports nothing.`);
    if ([...names, ...required].includes('default')) throw new Error(`${entry} has a default export.`);
    if (names.sort().join() !== required.sort().join()) {
      throw new Error(`${entry} exports ${names.join(', ')} to import, but ${required.join(', ')} to require.`);
    }
  }
}
