import { rm } from 'node:fs/promises';

export default async function clean() {
  await rm(process.env.FACTUAREA_WEBHOOK_CLI, { recursive: true, force: true });
}
