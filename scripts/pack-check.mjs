/**
 * Checks what would be published: packs every public package, and uses the tarballs as strangers would, in ES modules,
 * CommonJS and TypeScript. `node scripts/pack-check.mjs [folder …]`; it wants the packages built (`npm run build`), and
 * with folders named takes only these, which must hold `core` and what they depend on.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleChecks } from './pack-check/bundle.mjs';
import { makeConsumer } from './pack-check/consumer.mjs';
import { loadChecks } from './pack-check/load.mjs';
import { findPackages, lintTarball, pack } from './pack-check/pack.mjs';
import { inParallel, report } from './pack-check/run.mjs';
import { installToolbox } from './pack-check/toolbox.mjs';
import { typeChecks } from './pack-check/types.mjs';

const work = await realpath(await mkdtemp(join(tmpdir(), 'pack-check-')));
try {
  const packages = await findPackages(process.argv.slice(2));
  const toolbox = installToolbox();
  // Awaited last; its failure must not end the process while the rest is running.
  toolbox.catch(() => {});
  await inParallel(packages, async (one) => Object.assign(one, { tarball: await pack(one, work) }));
  const consumer = await makeConsumer(packages, join(work, 'consumer'));
  const checks = [
    ...packages.flatMap(lintTarball),
    ...(await bundleChecks(consumer)),
    ...(await typeChecks(consumer, await toolbox)),
    ...(await loadChecks(consumer, await toolbox)),
  ];
  process.exitCode = await report(checks);
} finally {
  await rm(work, { recursive: true, force: true });
}
