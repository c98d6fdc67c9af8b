// @ts-check
import { hasCode, PermanentFailure, resourceOf } from '@factuarea-webhook/core';

/** @type {Set<string>} */
const failedOnce = new Set();

/**
 * What this app does with an event: it writes a line into its own list. A repeated effect would be a second line.
 *
 * @param {import('@factuarea-webhook/core').FactuareaEvent} event
 * @param {import('@factuarea-webhook/core').Context<unknown>} context
 * @param {import('./store.js').Handled} handled
 */
export async function handle(event, { delivery, tx }, handled) {
  const resource = resourceOf(event);
  await misbehave(event.id, resource?.id ?? '');
  const entry = {
    id: event.id,
    type: event.type,
    resource: resource ? `${resource.type} ${resource.id}` : null,
    endpoint: delivery.endpoint ?? null,
    at: new Date().toISOString(),
  };
  await handled.add(entry, tx);
}

/**
 * What a route answers where `handle` failed: never the error's own text, since Factuarea keeps what a route answers.
 * 422 is not sent again, 500 is.
 *
 * @param {unknown} error
 */
export function answerTo(error) {
  console.error(error);
  return { status: hasCode(error, 'permanent_failure') ? 422 : 500, body: { error: 'not handled' } };
}

/**
 * Lets a demo play failures, chosen by how the resource's id ends. See README.md.
 *
 * @param {string} eventId
 * @param {string} resourceId
 */
async function misbehave(eventId, resourceId) {
  const slow = /-slow-(\d{1,5})$/.exec(resourceId);
  if (slow) await new Promise((resolve) => setTimeout(resolve, Number(slow[1])));
  if (resourceId.endsWith('-never')) throw new PermanentFailure('This app was told never to handle this resource.');
  if (resourceId.endsWith('-fail-once') && !failedOnce.has(eventId)) {
    failedOnce.add(eventId);
    throw new Error('This app was told to fail once.');
  }
}
