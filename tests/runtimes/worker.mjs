import { makers } from './app.mjs';

let handle;

export default {
  fetch(request, env, context) {
    handle ??= makers[env.CONTRACT_APP](JSON.parse(env.CONTRACT_CONFIG));
    return handle(request, context);
  },
};
