import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { companyDelivery, deliver, type FactuareaDelivery, twinsOf } from '@factuarea-webhook/testing';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { broken, SECRET, startReceiver } from './fixtures/receiver.ts';
import { type Listening, startListening } from './listen.ts';
import { run } from './run.ts';

jest.setTimeout(120_000);

const evil = '<img src=x onerror="window.owned=1"><script>window.owned=1</script>';
const looks = [
  ['light', 1280],
  ['dark', 1280],
  ['light', 380],
  ['dark', 380],
] as const;

let browser: Browser;
beforeAll(async () => {
  browser = await chromium.launch({ executablePath: String(process.env['CHROMIUM']), args: ['--no-sandbox'] });
});
afterAll(() => browser.close());

/** Opens a page; `problems` collects what its console says, and every request that leaves it. */
async function open(url: string, scheme: 'light' | 'dark' = 'light', width = 1280): Promise<[Page, string[]]> {
  const page = await browser.newPage({ colorScheme: scheme, viewport: { width, height: 800 } });
  const problems: string[] = [];
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (one) => {
    if (new URL(one.url()).origin !== new URL(url).origin && !one.url().startsWith('data:')) problems.push(one.url());
  });
  await page.goto(url);
  return [page, problems];
}

/** How far the page is wider than its window: nothing may have to be scrolled sideways to. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: { documentElement: { scrollWidth: number; clientWidth: number } };
    };
    return document.documentElement.scrollWidth - document.documentElement.clientWidth;
  });
const owned = (page: Page): Promise<unknown> => page.evaluate('window.owned');
/** How bright the page's ground is, from 0 to 255. */
const ground = async (page: Page): Promise<number> => {
  const colour = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
  return Number(/\d+/.exec(colour)?.[0]);
};

describe('the live page', () => {
  let to: Listening;
  const { company, account } = twinsOf('invoice.sent');
  const nasty = companyDelivery('invoice.paid', { resource: { note: evil } });
  const send = (delivery: FactuareaDelivery, secret = SECRET): ReturnType<typeof deliver> =>
    deliver(to.url, delivery, { secret });

  beforeAll(async () => {
    to = await startListening('--secret', SECRET);
  });
  afterAll(() => to.close());

  test('shows what arrives while it is open, and what came before it was', async () => {
    const [page, problems] = await open(to.page);
    await page.getByRole('heading', { name: 'Waiting for the first delivery' }).waitFor();
    await send(company);
    await page.getByRole('button', { name: /invoice\.sent/ }).waitFor();
    await send(account);
    await send(nasty);
    await send(companyDelivery('client.created'), 'whsec_5Jd8Pw3yHs6TqUc0RfGz');
    await page.locator('nav li').nth(3).waitFor();
    expect(await page.title()).toBe('(4) Deliveries');
    await page.reload();
    await page.locator('nav li').nth(3).waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('puts both envelopes side by side and marks what differs', async () => {
    const [page] = await open(to.page);
    await page.locator('[data-number="2"]').click();
    const table = page.getByRole('table');
    await table.getByText('Company endpoint').waitFor();
    const row = (name: string): ReturnType<Page['locator']> =>
      table.locator('tr', { has: page.locator(`th:text-is("${name}")`) });
    expect(await row('id').getAttribute('class')).toBeNull();
    expect(await row('account_relationship').getAttribute('class')).toBe('differs');
    expect(await row('id').locator('td').allInnerTexts()).toEqual(Array(2).fill(`"${company.event.id}"`));
    await page.getByRole('button', { name: '#1', exact: true }).click();
    expect(await page.locator('[aria-current]').getAttribute('data-number')).toBe('1');
    await page.close();
  });

  test('says why a delivery does not verify, and can leave the others out', async () => {
    const [page] = await open(to.page);
    await page.getByLabel('only what went wrong').check();
    await page.locator('nav button').click();
    expect(await page.locator('.finding').innerText()).toContain('another secret');
    await page.close();
  });

  test('shows payloads as text', async () => {
    const [page, problems] = await open(to.page);
    await page.locator('[data-number="3"]').click();
    await page.getByText('Body as it arrived').click();
    expect(await page.locator('table').innerText()).toContain('onerror');
    expect(await page.locator('#detail img, #detail script').count()).toBe(0);
    expect(await owned(page)).toBeUndefined();
    expect(problems).toEqual([]);
    await page.close();
  });

  test('sends a captured delivery again with one click', async () => {
    const [page] = await open(to.page);
    await page.locator('[data-number="1"]').click();
    await page.getByRole('button', { name: 'Send again, newly signed' }).click();
    await page.locator('[data-number="5"][aria-current]').waitFor();
    expect(await page.locator('#detail').innerText()).toContain('the same event as #1, sent again from #1');
    expect(await page.locator('.badge').innerText()).toBe('verified');
    await page.close();
  });

  test('without its key it shows nothing', async () => {
    const [page] = await open(to.url);
    await page.getByText('it holds the key to this page').waitFor();
    expect(await page.locator('nav li').count()).toBe(0);
    await page.close();
  });

  test.each(looks)('%s, %d pixels wide', async (scheme, width) => {
    const [page, problems] = await open(to.page, scheme, width);
    await page.locator('[data-number="2"]').click();
    await page.getByRole('table').waitFor();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect((await ground(page)) > 128).toBe(scheme === 'light');
    expect(problems).toEqual([]);
    await page.close();
  });
});

describe('the report as a page', () => {
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  const file = join(folder, 'report.html');
  afterAll(() => rmSync(folder, { recursive: true }));

  beforeAll(async () => {
    const receiver = await startReceiver({
      ...broken['answers 400 to a charset'],
      refusal: () => evil,
    });
    const { code, stderr } = await run(['doctor', receiver.url, '--secret', SECRET, '--html', file]);
    await receiver.close();
    expect(code).toBe(1);
    expect(stderr).toContain(file);
  });

  test.each(looks)('%s, %d pixels wide', async (scheme, width) => {
    const [page, problems] = await open(pathToFileURL(file).href, scheme, width);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('1 check failed');
    expect(await page.locator('details[open]').count()).toBe(1);
    expect(await page.locator('#charset').innerText()).toContain('400 content type');
    await page.locator('#unsigned summary').click();
    expect(await page.locator('#unsigned').innerText()).toContain('onerror');
    expect(await owned(page)).toBeUndefined();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
    expect((await ground(page)) > 128).toBe(scheme === 'light');
    expect(problems).toEqual([]);
    await page.close();
  });
});
