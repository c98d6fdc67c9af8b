import { describe, expect, test } from '@jest/globals';
import { FactuareaWebhookError, hasCode, PermanentFailure } from '../src/index.ts';

describe('errors', () => {
  test('carry a code, a message and a cause', () => {
    const cause = new Error('refused');
    const error = new FactuareaWebhookError('store_unavailable', 'No answer.', { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: 'FactuareaWebhookError',
      code: 'store_unavailable',
      message: 'No answer.',
      cause,
    });
    expect(String(error)).toBe('FactuareaWebhookError: No answer.');
  });

  test('PermanentFailure is one of them', () => {
    expect(new PermanentFailure('No such customer.')).toMatchObject({
      name: 'PermanentFailure',
      code: 'permanent_failure',
    });
  });

  test('are recognised by code, from whichever copy of the package they come', () => {
    expect(hasCode(new PermanentFailure('x'), 'permanent_failure')).toBe(true);
    expect(hasCode({ code: 'permanent_failure' }, 'permanent_failure')).toBe(true);
    expect(hasCode(new PermanentFailure('x'), 'commit_failed')).toBe(false);
  });

  test.each([undefined, null, 0, '', 'permanent_failure', [], new Error('x')])('%p has no code', (thrown) => {
    expect(hasCode(thrown, 'permanent_failure')).toBe(false);
  });

  test('what throws when looked at has no code', () => {
    const hostile = new Proxy(
      {},
      {
        get() {
          throw new Error('do not look');
        },
      },
    );
    expect(hasCode(hostile, 'permanent_failure')).toBe(false);
  });
});
