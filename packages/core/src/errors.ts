/** Every `code` that an error of this family of packages can have. Recognise errors by it, never by `instanceof`. */
export type ErrorCode =
  | 'config_error'
  | 'permanent_failure'
  | 'body_too_large'
  | 'body_incomplete'
  | 'body_unavailable'
  | 'store_unavailable'
  | 'commit_failed'
  | 'commit_rolled_back'
  | 'handler_limit'
  | 'lease_lost'
  | 'route_closed';

/**
 * An error of this family of packages.
 *
 * @example
 * ```ts
 * import { FactuareaWebhookError, hasCode } from '@factuarea-webhook/core';
 *
 * const error = new FactuareaWebhookError('store_unavailable', 'The database did not answer within 2 s.');
 * hasCode(error, 'store_unavailable'); // true, also across two copies of the package
 * ```
 */
export class FactuareaWebhookError extends Error {
  override readonly name: string = 'FactuareaWebhookError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Throw this in a handler when a retry cannot help. The answer is 422: Factuarea does not try again, the claim is
 * freed, and a replay by hand runs the handler again once the cause is mended.
 *
 * @example
 * ```ts
 * import { PermanentFailure } from '@factuarea-webhook/core';
 *
 * throw new PermanentFailure('No customer has this tax ID.');
 * ```
 */
export class PermanentFailure extends FactuareaWebhookError {
  override readonly name: string = 'PermanentFailure';

  constructor(message: string, options?: { cause?: unknown }) {
    super('permanent_failure', message, options);
  }
}

/** Whether `error` carries this `code`. Never throws, whatever was thrown. */
export function hasCode(error: unknown, code: ErrorCode): boolean {
  try {
    return (error as { code?: unknown } | null | undefined)?.code === code;
  } catch {
    return false;
  }
}

export function configError(message: string): FactuareaWebhookError {
  return new FactuareaWebhookError('config_error', message);
}
