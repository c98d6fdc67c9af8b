import type { RigModule } from './rig.ts';

/** What the parent asks for and gets: one pruning, and how many ids it deleted. */
export interface Pruned {
  readonly deleted?: number;
  readonly error?: string;
}

/** The child process: a store that prunes whenever its parent says so. */
const { rig, settings } = JSON.parse(process.argv[3] ?? '{}');
const tell = (message: 'ready' | Pruned): unknown => process.send?.(message);

async function main(): Promise<void> {
  const { open } = (await import(rig)) as RigModule<unknown>;
  const { store } = await open(settings);
  // The code has been loaded and a connection made before anything is measured.
  await store.prune?.();
  process.on('message', () => {
    Promise.resolve(store.prune?.()).then(
      (deleted) => tell({ deleted: deleted ?? 0 }),
      (error: unknown) => tell({ error: String(error) }),
    );
  });
  process.once('disconnect', () => process.exit(0));
  tell('ready');
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
