import { makeFetch } from './fetch-app.mjs';

let handle;

export default {
  fetch(request, env, context) {
    handle ??= makeFetch(JSON.parse(env.CONTRACT_CONFIG));
    return handle(request, context);
  },
};
