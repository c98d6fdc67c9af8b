const core = require('@factuarea-webhook/core');
const fetchBridge = require('@factuarea-webhook/core/fetch');
const { entries } = require('../entries.cjs');
const { receive } = require('../receive.cjs');

test('every entry point loads', () => {
  for (const entry of Object.values(entries)) expect(Object.keys(entry).length).toBeGreaterThan(0);
});

test('a delivery is received', () => receive(core, fetchBridge));
