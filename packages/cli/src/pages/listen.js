// Everything shown comes from the network, so it goes into the page as text only: no innerHTML anywhere.

const key = new URLSearchParams(location.hash.slice(1)).get('key') ?? '';
const find = (id) => document.getElementById(id);
const captures = new Map();
let setup = { canSign: false, forwardTo: undefined };
let selected;

/** Makes an element: a class, then children that are elements or text. */
function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children.filter((child) => child !== undefined && child !== false && child !== ''));
  return element;
}

const verdicts = { good: 'verified', bad: 'not verified', unchecked: 'not checked' };
const clock = (iso) => new Date(iso).toLocaleTimeString();
const size = (bytes) => (bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} KB`);
const isOk = (status) => status >= 200 && status <= 299;

function wentWrong({ verdict, answer }) {
  return verdict === 'bad' || (answer !== undefined && !isOk(answer.status));
}

function showList() {
  const onlyBad = find('only-bad').checked;
  const shown = [...captures.values()].filter((one) => !onlyBad || wentWrong(one)).reverse();
  const focused = document.activeElement?.dataset?.number;
  find('list').replaceChildren(...shown.map(listItem));
  if (focused)
    find('list')
      .querySelector(`[data-number="${CSS.escape(focused)}"]`)
      ?.focus();
  const count = captures.size;
  document.title = count === 0 ? 'Deliveries' : `(${count}) Deliveries`;
}

function listItem(one) {
  const button = make(
    'button',
    one.verdict,
    make('span', 'mark', { good: '✔', bad: '✖', unchecked: '?' }[one.verdict]),
    make('span', 'what', one.event?.type ?? 'no event'),
    make(
      'span',
      `status ${one.answer ? (isOk(one.answer.status) ? 'good' : 'bad') : ''}`,
      one.answer ? String(one.answer.status) : '…',
    ),
    make(
      'span',
      'more',
      `#${one.number} · ${clock(one.at)}`,
      one.event?.endpoint === 'account' && ' · account',
      one.resendOf !== undefined && ` · sent again from #${one.resendOf}`,
      one.repeatOf !== undefined && one.resendOf === undefined && ` · repeats #${one.repeatOf}`,
    ),
  );
  button.type = 'button';
  button.dataset.number = String(one.number);
  if (one.number === selected) button.setAttribute('aria-current', 'true');
  button.title = verdicts[one.verdict];
  button.addEventListener('click', () => select(one.number));
  const item = make('li', '', button);
  item.value = one.number;
  return item;
}

function select(number) {
  selected = number;
  showList();
  showDetail();
}

function showDetail() {
  const one = captures.get(selected);
  if (!one) return find('detail').replaceChildren(empty());
  find('detail').replaceChildren(
    heading(one),
    ...findings(one),
    facts(one),
    ...forwarded(one),
    envelopes(one),
    bodyOf(one),
    fold('Headers', pairs(one.headers)),
  );
}

function empty() {
  const url = `${location.origin}/`;
  return make(
    'div',
    'empty',
    make('h2', '', captures.size === 0 ? 'Waiting for the first delivery' : 'Choose a delivery'),
    make('p', '', 'Every POST to this address shows up here, at any path. To see one now:'),
    make('pre', '', `npx @factuarea-webhook/cli send ${url} --secret whsec_…`),
  );
}

function heading(one) {
  const button = make('button', 'resend', 'Send again, newly signed');
  button.type = 'button';
  button.disabled = !setup.canSign;
  if (!setup.canSign) button.title = 'There is no secret to sign with: start with --secret.';
  button.addEventListener('click', () => resend(one.number, button));
  return make(
    'div',
    'heading',
    make('h2', '', one.event?.type ?? 'No event'),
    make('span', `badge ${one.verdict}`, verdicts[one.verdict]),
    button,
    make('p', 'id', one.event?.id ?? 'The body is no JSON object with an id and a type.'),
  );
}

function findings(one) {
  return one.findings.map(({ problem, fix }) => make('div', 'finding', make('p', '', problem), make('p', 'fix', fix)));
}

function facts(one) {
  const rows = [
    ['Answered', one.answer ? `${one.answer.status} after ${one.answer.ms} ms` : 'not yet'],
    ['Arrived', `${new Date(one.at).toLocaleString()} at ${one.path}`],
    ['Signed', signed(one)],
    ['Body', `${size(one.bytes)}, read in ${one.readMs} ms`],
    ['Repeat', repeat(one)],
  ];
  if (one.secret !== undefined) rows.push(['Secret', `number ${one.secret} fits`]);
  return pairs(rows);
}

function signed({ signedAt, clockOffsetSeconds }) {
  if (!signedAt) return 'unknown';
  const offset = clockOffsetSeconds ?? 0;
  const when = new Date(signedAt).toLocaleString();
  return offset === 0 ? when : `${when}, ${Math.abs(offset)} s ${offset < 0 ? 'before' : 'after'} its arrival`;
}

function repeat(one) {
  if (one.event === undefined) return 'no id, so it cannot be told';
  if (one.repeatOf === undefined) return 'the first delivery of this event';
  const again = one.resendOf === undefined ? '' : `, sent again from #${one.resendOf}`;
  return make('span', '', 'the same event as ', jump(one.repeatOf), again);
}

function jump(number) {
  const button = make('button', 'link', `#${number}`);
  button.type = 'button';
  button.addEventListener('click', () => select(number));
  return button;
}

function forwarded({ forwarded: app, answer, verdict }) {
  if (!setup.forwardTo) return [];
  if (!app)
    return [
      make('div', 'app', make('h3', '', 'Your app'), make('p', '', answer ? 'was not asked' : 'is being asked…')),
    ];
  const result = app.error ? `No answer: ${app.error}` : `${app.status} after ${app.ms} ms`;
  return [
    make(
      'div',
      `app ${isOk(app.status) ? 'good' : 'bad'}`,
      make('h3', '', 'Your app'),
      make('p', '', make('b', '', result), ` from ${app.url}`),
      verdict === 'bad' && isOk(app.status) && make('p', 'bad', 'It accepted a delivery that does not verify.'),
      app.body !== '' && make('pre', '', pretty(app.body)),
    ),
  ];
}

/** Both endpoints' copies of the event side by side, field by field. */
function envelopes(one) {
  const own = one.event?.endpoint ?? 'company';
  const other = own === 'company' ? 'account' : 'company';
  const twin = [...captures.values()].find(
    ({ event }) => event && event.id === one.event?.id && event.endpoint === other,
  );
  const sides = { [own]: parsed(one), [other]: twin && parsed(twin) };
  if (!sides[own]) return '';
  const { company, account } = sides;
  const keys = [...new Set([...Object.keys(account ?? {}), ...Object.keys(company ?? {})])];
  const title = (kind) =>
    make(
      'th',
      '',
      `${kind === 'company' ? 'Company' : 'Account'} endpoint`,
      make('span', 'of', ofWhich(kind === own ? one : twin)),
    );
  const head = make('tr', '', make('th', '', 'Field'), title('company'), title('account'));
  const rows = keys.map((name) => {
    const cell = (side) =>
      make('td', '', make('pre', '', side && name in side ? JSON.stringify(side[name], null, 2) : side ? '–' : ''));
    const same = !company || !account || JSON.stringify(company[name]) === JSON.stringify(account[name]);
    return make('tr', same ? '' : 'differs', make('th', '', name), cell(company), cell(account));
  });
  const note = twin
    ? 'Fields that differ are marked.'
    : `The ${other} endpoint’s copy of this event has not been seen.`;
  const wide = make(
    'div',
    'scroll',
    make('table', twin ? 'both' : `only-${own}`, make('thead', '', head), make('tbody', '', ...rows)),
  );
  return make('div', 'envelopes', make('h3', '', 'Envelope'), make('p', 'soft', note), wide);
}

const ofWhich = (one) => (one ? ` #${one.number}` : ' not seen');

function parsed({ body }) {
  try {
    const value = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function bodyOf(one) {
  if (one.body === null) return fold('Body as it arrived', make('p', '', 'It is not text in UTF-8.'));
  return fold('Body as it arrived', make('pre', 'raw', one.body));
}

function fold(title, content) {
  return make('details', '', make('summary', '', title), content);
}

function pairs(rows) {
  return make('dl', '', ...rows.flatMap(([name, value]) => [make('dt', '', name), make('dd', '', value)]));
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function resend(number, button) {
  button.disabled = true;
  const response = await fetch('/_listen/resend', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-listen-key': key },
    body: JSON.stringify({ number }),
  }).catch(() => undefined);
  button.disabled = false;
  if (response?.ok) {
    // The copy itself may come a moment later, by the stream of events.
    selected = (await response.json()).number;
    if (captures.has(selected)) select(selected);
  } else say(response ? await response.text() : 'The listener has ended.', 'bad');
}

function say(text, className = '') {
  const state = find('state');
  if (state.textContent !== text) state.textContent = text;
  state.className = className;
}

function start() {
  if (key === '') return say('Open the link that the command has printed: it holds the key to this page.', 'bad');
  const events = new EventSource(`/_listen/events?key=${encodeURIComponent(key)}`);
  let drawing = false;
  const draw = () => {
    drawing = false;
    showList();
    // Not drawn anew under a reader's hands, unless it is what they look at that has changed.
    if (selected === undefined) showDetail();
  };
  events.addEventListener('setup', ({ data }) => {
    setup = JSON.parse(data);
    captures.clear();
    find('forward').textContent = setup.forwardTo ? `passed on to ${setup.forwardTo}` : '';
    say('Live', 'good');
    draw();
  });
  events.addEventListener('message', ({ data }) => {
    const one = JSON.parse(data);
    captures.set(one.number, one);
    if (one.number === selected || captures.get(selected)?.event?.id === one.event?.id) showDetail();
    if (!drawing) requestAnimationFrame(draw);
    drawing = true;
  });
  events.addEventListener('error', () => {
    const refused = events.readyState === EventSource.CLOSED;
    say(
      refused ? 'Refused: open the link that the command has printed.' : 'The listener has ended. Waiting for it…',
      'bad',
    );
  });
}

find('only-bad').addEventListener('change', showList);
showDetail();
start();
