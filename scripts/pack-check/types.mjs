import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { standsAlone } from './consumer.mjs';
import { command, root, run } from './run.mjs';

/** What types a program has beside the language's own. */
const worlds = {
  plain: { title: 'no platform types', lib: ['ES2022'], folder: '' },
  dom: { title: 'DOM', lib: ['ES2022', 'DOM', 'DOM.Iterable'], folder: '' },
  node: { title: 'Node’s types', lib: ['ES2022'], folder: 'typed' },
  both: { title: 'DOM and Node’s types', lib: ['ES2022', 'DOM', 'DOM.Iterable'], folder: 'typed' },
};

/**
 * Which worlds each compiler compiles in. TypeScript 7 is quick enough for all of them; the others take those that
 * bring every resolution and every world once. Node's types have left TypeScript 5.0 behind.
 */
const programs = {
  'typescript5.0': { node16: ['plain'], nodenext: ['dom'], bundler: ['plain'] },
  'typescript5.6': { node16: ['node'], nodenext: ['plain'], bundler: ['dom'] },
  'typescript5.9': { node16: ['plain'], nodenext: ['both'], bundler: ['node'] },
  typescript7: { node16: Object.keys(worlds), nodenext: Object.keys(worlds), bundler: Object.keys(worlds) },
};

/** Speaks of `Request` and `Response`, so it needs a platform's types, be they the DOM's or Node's. */
const needsPlatform = ['testing'];

/** Compiles programs that use every entry point, strictly, with old and new compilers. */
export async function typeChecks(consumer, toolbox) {
  const { folder, packages } = consumer;
  const alone = await filter(packages, (one) => standsAlone(consumer, one, false));
  const onNode = await filter(packages, (one) => standsAlone(consumer, one, true));
  if (!alone.some((one) => one.folder === 'core')) throw new Error('The declarations of core import something.');
  const rest = packages.filter((one) => !onNode.includes(one));
  const checks = [];
  for (const [version, resolutions] of Object.entries(programs)) {
    const compiler = version === 'typescript7' ? command.typescript : join(toolbox, version, 'bin/tsc');
    const add = async (...program) => checks.push(await typeCheck(folder, version, compiler, ...program));
    for (const [resolution, names] of Object.entries(resolutions)) {
      for (const name of names) {
        const able = name === 'plain' ? alone.filter((one) => !needsPlatform.includes(one.folder)) : alone;
        await add(resolution, worlds[name], worlds[name].folder ? onNode : able, false);
      }
    }
    // A framework's declarations are not ours to check, and need newer compilers than ours do.
    if (rest.length > 0 && version >= 'typescript5.9') await add('nodenext', worlds.both, rest, true);
  }
  return checks;
}

let count = 0;

async function typeCheck(folder, version, compiler, resolution, world, packages, skipLibCheck) {
  const directory = join(folder, world.folder, `program${count++}`);
  await mkdir(directory, { recursive: true });
  const entries = packages.flatMap((one) => one.entries);
  const imports = entries.map((entry, at) => `import * as e${at} from '${entry}';\nexport { e${at} };\n`).join('');
  // A bundler reads ES modules only; the others resolve by the file's own system, so they get both.
  const suffixes = resolution === 'bundler' ? ['ts'] : ['mts', 'cts'];
  const samples = packages.some((one) => one.folder === 'core') ? ['core'] : [];
  for (const suffix of suffixes) {
    await writeFile(join(directory, `entries.${suffix}`), imports);
    for (const sample of samples) {
      const text = await readFile(join(root, `scripts/pack-check/samples/types/${sample}.ts`));
      await writeFile(join(directory, `${sample}.${suffix}`), text);
    }
  }
  const compilerOptions = {
    target: 'ES2022',
    lib: world.lib,
    module: resolution === 'bundler' ? 'ESNext' : resolution,
    moduleResolution: resolution,
    types: world.folder ? ['node'] : [],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck,
    noEmit: true,
  };
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  return {
    title: `types     ${version}, ${resolution}, ${world.title}: ${packages.map((one) => one.folder).join(' ')}`,
    check: () => run(process.execPath, [compiler, '-p', directory, '--pretty', 'false'], { cwd: directory }),
  };
}

async function filter(items, holds) {
  const kept = await Promise.all(items.map(holds));
  return items.filter((_, at) => kept[at]);
}
