import { rm } from 'node:fs/promises';

export default async function clean() {
  await Promise.all((globalThis.stopStores ?? []).map((stop) => stop()));
  await rm(process.env.FACTUAREA_WEBHOOK_CLI, { recursive: true, force: true });
}
