const core = require('@factuarea-webhook/core');
const fetchBridge = require('@factuarea-webhook/core/fetch');
const { entries } = require('./entries.cjs');
const { receive } = require('./receive.cjs');

receive(core, fetchBridge).then(() => {
  const names = Object.entries(entries).map(([name, all]) => [name, Object.keys(all)]);
  console.log(JSON.stringify(Object.fromEntries(names)));
});
