import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createReceiver, memoryStore, type ReceiverOptions } from '../src/index.ts';
import { secretKeys } from '../src/secrets.ts';
import { codeOf, delivery, keepingLogger, NOW, OLDER_SECRET, SECRET, thrownBy, watchedStore } from './support.ts';

const VARIABLE = 'FACTUAREA_WEBHOOK_SECRET';
const { [VARIABLE]: variable, NODE_ENV } = process.env;
const body = '{"id":"one","type":"invoice.sent"}';

beforeEach(() => {
  process.env[VARIABLE] = SECRET;
});
afterEach(() => {
  for (const [name, value] of Object.entries({ [VARIABLE]: variable, NODE_ENV })) {
    if (value === undefined) delete process.env[name];
    else Object.assign(process.env, { [name]: value });
  }
});

const quiet = { logger: { info() {}, warn() {}, error() {} }, nowSeconds: () => NOW };

describe('options that cannot work', () => {
  const notANumber = [Number.NaN, '10', null, {}, true, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const wrong: Record<string, unknown[]> = {
    handler: ['later', null, {}, 1],
    on: [null, 'invoice.sent', 1, {}, { 'invoice.sent': undefined }, { 'invoice.sent': 'later' }, { '*': null }],
    toleranceSeconds: [...notANumber, 0, -1, 86_401],
    bodyLimit: [...notANumber, 0, -1, 2 ** 31],
    timeoutSeconds: [...notANumber, 0, 0.5, 31],
    handlerLimitSeconds: [...notANumber, 0, 86_401],
    storeTimeoutSeconds: [...notANumber, 0, 31],
    retention: [...notANumber, 0, 6.9, 36_501],
    cache: [null, 'no', 0, {}],
    onOutcome: [null, 'log', {}],
    nowSeconds: [null, NOW, '2026-01-01'],
    logger: [null, {}, console.log, { info() {}, warn() {} }, { info() {}, warn() {}, error: 'x' }],
    store: [null, {}, 'memory:', memoryStore, { claim: 'x' }],
  };
  for (const [name, values] of Object.entries(wrong)) {
    test.each(values)(`${name}: %p`, async (value) => {
      const error = await thrownBy(() => createReceiver({ secret: SECRET, [name]: value } as ReceiverOptions));
      expect(error.code).toBe('config_error');
      expect(error.message).toContain(name);
      expect(error.message).not.toContain(SECRET);
    });
  }

  test('`handler` together with `on`', async () => {
    const error = await thrownBy(() => createReceiver({ secret: SECRET, handler() {}, on: { '*'() {} } }));
    expect(error).toMatchObject({ code: 'config_error', message: expect.stringContaining('not both') });
  });

  test.each(['hanlder', 'secrets', 'constructor', 'retentionDays'])('no option is called %s', async (name) => {
    const error = await thrownBy(() => createReceiver({ secret: SECRET, [name]: () => {} } as ReceiverOptions));
    expect(error).toMatchObject({ code: 'config_error', message: expect.stringContaining(`\`${name}\``) });
    expect(error.message).toContain('handler, on, toleranceSeconds');
  });
});

describe('options that can', () => {
  test.each([
    ['toleranceSeconds', 0.5],
    ['toleranceSeconds', 86_400],
    ['bodyLimit', 1],
    ['timeoutSeconds', 1],
    ['timeoutSeconds', 30],
    ['handlerLimitSeconds', 1],
    ['storeTimeoutSeconds', 0.05],
    ['retention', 7],
  ])('%s: %p', (name, value) => {
    expect(createReceiver({ secret: SECRET, [name]: value } as ReceiverOptions)).toHaveProperty('receive');
  });

  test('`undefined` is the default, except as a secret that somebody meant to give', async () => {
    const names = [
      ...['store', 'handler', 'on', 'toleranceSeconds', 'bodyLimit', 'timeoutSeconds', 'handlerLimitSeconds'],
      ...['storeTimeoutSeconds', 'retention', 'cache', 'onOutcome', 'logger', 'nowSeconds'],
    ];
    const options = Object.fromEntries(names.map((name) => [name, undefined]));
    expect(createReceiver(options)).toHaveProperty('hasHandler', false);
    expect(await thrownBy(() => createReceiver({ secret: undefined }))).toMatchObject({ code: 'config_error' });
  });

  test('`hasHandler` tells the form', () => {
    expect(createReceiver({ secret: SECRET }).hasHandler).toBe(false);
    expect(createReceiver({ secret: SECRET, handler() {} }).hasHandler).toBe(true);
    expect(createReceiver({ secret: SECRET, on: { '*'() {} } }).hasHandler).toBe(true);
  });

  test.each([
    [1, 15_000],
    [10, 20_000],
    [20, 35_000],
    [30, 45_000],
  ])('a sender’s limit of %p s gives a lease of %p ms', async (timeoutSeconds, leaseMs) => {
    const store = watchedStore();
    const receiver = createReceiver({
      ...quiet,
      secret: SECRET,
      store,
      timeoutSeconds,
      retention: 7,
      handlerLimitSeconds: 60,
      storeTimeoutSeconds: 1,
      handler() {},
    });
    await receiver.receive(await delivery(body));
    expect(store.options).toEqual([{ leaseMs, retentionMs: 604_800_000, limitMs: 60_000, timeoutMs: 1000 }]);
  });

  test('90 days, 2 minutes and 2 seconds are the defaults', async () => {
    const store = watchedStore();
    await createReceiver({ ...quiet, secret: SECRET, store, handler() {} }).receive(await delivery(body));
    expect(store.options).toEqual([
      { leaseMs: 20_000, retentionMs: 90 * 86_400_000, limitMs: 120_000, timeoutMs: 2000 },
    ]);
  });
});

describe('secret', () => {
  const wrong: [string, unknown][] = [
    ['the text "undefined"', 'undefined'],
    ['undefined', undefined],
    ['null', null],
    ['an empty text', ''],
    ['blanks', '   '],
    ['an empty list', []],
    ['a list with an empty text', [SECRET, '']],
    ['a list with null', [SECRET, null]],
    ['a list in a list', [[SECRET]]],
    ['an empty object', {}],
    ['a name without a secret', { company: SECRET, account: undefined }],
    ['a name with an empty list', { company: SECRET, account: [] }],
    ['no bytes', new Uint8Array()],
    ['bytes', Buffer.from(SECRET)],
    ['a number', 42],
    ['double quotes', `"${SECRET}"`],
    ['single quotes', `'${SECRET}'`],
    ['backticks', `\`${SECRET}\``],
    ['a space inside', 'whsec_7Qm2Zr 9tLk4XvB1nAe6H'],
    ['a line break inside', `whsec_a\nwhsec_b`],
    ['a comma', `${SECRET},${OLDER_SECRET}`],
    ['another scheme’s form', `v1,${SECRET}`],
    ['no prefix', 'not-a-whsec-value'],
    ['the prefix alone', 'whsec_'],
    ['the prefix in capitals', SECRET.toUpperCase()],
    ['a letter outside of ASCII', `${SECRET}é`],
    ['a zero-width space inside', `whsec_7Qm2\u200bZr9t`],
  ];

  test.each(wrong)('refuses %s when it is made', async (_name, secret) => {
    const error = await thrownBy(() => createReceiver({ secret: secret as string }));
    expect(error.code).toBe('config_error');
    expect(error.message).toMatch(/secret/i);
    expect(error.message).not.toMatch(/7Qm2|5Jd8/);
  });

  test.each(wrong)('a function that gives %s is answered 500', async (_name, secret) => {
    const store = watchedStore();
    const logger = keepingLogger();
    const receiver = createReceiver({ ...quiet, secret: () => secret as string, store, logger, handler() {} });
    const answer = await receiver.receive(await delivery(body));
    expect([answer.status, codeOf(answer)]).toEqual([500, 'secret_missing']);
    expect(store.calls).toEqual([]);
    expect(JSON.stringify([logger.lines, answer])).not.toMatch(/7Qm2|5Jd8/);
  });

  const right: [string, ReceiverOptions['secret'], string | undefined][] = [
    ['one', SECRET, undefined],
    ['one with blanks around', `\n ${SECRET}\r\n`, undefined],
    ['several', [OLDER_SECRET, SECRET], undefined],
    ['names', { company: OLDER_SECRET, account: SECRET }, 'account'],
    ['names with several', { company: ['whsec_x'], account: [OLDER_SECRET, SECRET] }, 'account'],
    ['a function', () => SECRET, undefined],
    ['an async function', async () => ({ company: SECRET }), 'company'],
    ['a function with a list', () => [OLDER_SECRET, SECRET], undefined],
  ];

  test.each(right)('takes %s', async (_name, secret, endpoint) => {
    const seen: unknown[] = [];
    const receiver = createReceiver({
      ...quiet,
      secret,
      handler: (_event, { delivery }) => {
        seen.push(delivery.endpoint);
      },
    });
    expect((await receiver.receive(await delivery(body))).status).toBe(200);
    expect(seen).toEqual([endpoint]);
  });

  test('a function is asked at every request that needs it, and a change takes effect', async () => {
    let secret = SECRET;
    let asked = 0;
    const receiver = createReceiver({
      ...quiet,
      handler() {},
      secret: () => {
        asked++;
        return secret;
      },
    });
    expect((await receiver.receive(await delivery(body))).status).toBe(200);
    secret = OLDER_SECRET;
    expect((await receiver.receive(await delivery(body))).status).toBe(401);
    expect((await receiver.receive(await delivery(body, { headers: { 'factuarea-signature': '' } }))).status).toBe(401);
    expect(asked).toBe(2);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('vault sealed');
      },
    ],
    ['rejects', () => Promise.reject(new Error('vault sealed'))],
    ['rejects with nothing', () => Promise.reject(undefined)],
  ])('a function that %s is answered 500, so that Factuarea tries again', async (_name, secret) => {
    const store = watchedStore();
    const answer = await createReceiver({ ...quiet, secret, store, handler() {} }).receive(await delivery(body));
    expect([answer.status, codeOf(answer)]).toEqual([500, 'secret_missing']);
    expect(store.calls).toEqual([]);
  });

  test('a function that never ends is answered within the deadline', async () => {
    const incoming = await delivery(body);
    jest.useFakeTimers();
    try {
      const receiver = createReceiver({ ...quiet, secret: () => new Promise<string>(() => {}), handler() {} });
      const answering = receiver.receive(incoming);
      await jest.advanceTimersByTimeAsync(8999);
      let answered = false;
      answering.then(() => {
        answered = true;
      });
      await jest.advanceTimersByTimeAsync(0);
      expect(answered).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(codeOf(await answering)).toBe('secret_missing');
      expect(incoming.reads).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});

test('prepared keys are kept, but not without bound', () => {
  const keyOf = (secret: string): unknown => secretKeys(secret)[0]?.key;
  const first = keyOf('whsec_first');
  expect(keyOf('whsec_first')).toBe(first);
  for (let i = 0; i < 64; i++) keyOf(`whsec_${i}`);
  expect(keyOf('whsec_first')).not.toBe(first);
});

describe('the environment’s secret', () => {
  const receive = async (secret = SECRET): Promise<number> => {
    const receiver = createReceiver({ ...quiet, handler() {} });
    return (await receiver.receive(await delivery(body, { secret }))).status;
  };

  test('is one, or several with commas', async () => {
    expect(await receive()).toBe(200);
    expect(await receive(OLDER_SECRET)).toBe(401);
    process.env[VARIABLE] = ` ${SECRET} , ${OLDER_SECRET}\n`;
    expect(await receive()).toBe(200);
    expect(await receive(OLDER_SECRET)).toBe(200);
  });

  test.each(['undefined', `"${SECRET}"`, `${SECRET},`, 'whsec_'])(
    '%j is refused when the receiver is made',
    async (value) => {
      process.env[VARIABLE] = value;
      const error = await thrownBy(() => createReceiver({ handler() {} }));
      expect(error.code).toBe('config_error');
      expect(error.message).not.toContain('7Qm2');
    },
  );

  test.each([undefined, '', '  '])('%j waits for the first request, and is read once it is there', async (value) => {
    if (value === undefined) delete process.env[VARIABLE];
    else process.env[VARIABLE] = value;
    const logger = keepingLogger();
    const receiver = createReceiver({ ...quiet, logger, handler() {} });
    const early = await receiver.receive(await delivery(body));
    expect([early.status, codeOf(early)]).toEqual([500, 'secret_missing']);
    expect(logger.lines[0]?.fields['err']).toMatchObject({ message: expect.stringContaining(VARIABLE) });
    process.env[VARIABLE] = SECRET;
    expect((await receiver.receive(await delivery(body))).status).toBe(200);
  });
});

describe('the default logger', () => {
  test('writes warnings and errors to the console, and no ordinary outcome', async () => {
    const lines: unknown[][] = [];
    const spies = (['log', 'info', 'debug', 'warn', 'error'] as const).map((method) =>
      jest.spyOn(console, method).mockImplementation((...args: unknown[]) => void lines.push([method, args[0]])),
    );
    const receiver = createReceiver({
      secret: SECRET,
      nowSeconds: () => NOW,
      handler: ({ id }) => {
        if (id === 'bad') throw new Error('no');
      },
    });
    await receiver.receive(await delivery(body));
    await receiver.receive(await delivery(body, { secret: OLDER_SECRET }));
    await receiver.receive(await delivery('{"id":"bad","type":"a.b"}'));
    for (const spy of spies) spy.mockRestore();
    expect(lines).toEqual([
      ['warn', expect.stringContaining('No v1 fits')],
      ['error', expect.stringContaining('The handler threw')],
    ]);
  });
});

describe('memory as the default store', () => {
  test('is told of once, and only in production', () => {
    const logger = keepingLogger();
    createReceiver({ secret: SECRET, logger });
    expect(logger.lines).toEqual([]);
    Object.assign(process.env, { NODE_ENV: 'production' });
    createReceiver({ secret: SECRET, logger, store: memoryStore() });
    expect(logger.lines).toEqual([]);
    createReceiver({ secret: SECRET, logger });
    createReceiver({ secret: SECRET, logger });
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { code: 'memory_store' } }]);
  });
});

describe('mistakes that would lose events without a word', () => {
  test.each([async () => {}, 'whsec_a', ['whsec_a'], null, 1])('options that are no object: %p', async (value) => {
    const error = await thrownBy(() => createReceiver(value as unknown as ReceiverOptions));
    expect(error).toMatchObject({ code: 'config_error', message: expect.stringContaining('must be an object') });
  });

  test('a type that no handler takes is told once', async () => {
    const warnings: unknown[] = [];
    const logger = { ...quiet.logger, warn: (fields: object) => warnings.push(fields) };
    const receiver = createReceiver({ ...quiet, secret: SECRET, logger, on: { 'invoice.payed': () => {} } });
    for (const id of ['one', 'two']) {
      const answer = await receiver.receive(await delivery(`{"id":"${id}","type":"invoice.paid"}`));
      expect(codeOf(answer)).toBe('ignored');
    }
    expect(warnings).toEqual([{ code: 'ignored', eventType: 'invoice.paid' }]);
  });

  test('a wrong secret in the environment is told as such', async () => {
    process.env[VARIABLE] = 'oops';
    const error = (await thrownBy(() => createReceiver({ ...quiet, handler() {} }))) as Error;
    expect(error.message).toContain(VARIABLE);
    expect(error.message).not.toContain('oops');
  });

  test('a secret that is no text is told as such', async () => {
    const error = await thrownBy(() => createReceiver({ ...quiet, secret: 5 as unknown as string }));
    expect(error).toMatchObject({ code: 'config_error', message: expect.stringContaining('is no string') });
  });
});
