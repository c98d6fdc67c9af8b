import type { OutcomeCode } from './types.ts';

/** What happened and what to do about it, for whoever reads the log. Ordinary outcomes need no explanation. */
export function explain(code: OutcomeCode, reason?: string): string | undefined {
  return texts[reason as keyof typeof texts] ?? texts[code as keyof typeof texts];
}

const texts = {
  signature_missing: 'No Factuarea-Signature header. Not from Factuarea, or a proxy removed it.',
  signature_malformed: 'The Factuarea-Signature header cannot be read. It needs one t= and a v1=.',
  signature_mismatch:
    'No v1 fits this body and the configured secrets. Check that `secret` is this endpoint’s, and that nothing rewrote the body.',
  timestamp_out_of_tolerance: 'The signature is too old or too new. Check this machine’s clock.',
  not_json: 'The signed body is not JSON in UTF-8.',
  not_an_object: 'The signed body is JSON, but no object.',
  bad_id: 'The event’s `id` is no string of 1–255 visible characters.',
  bad_type: 'The event’s `type` is no string of 1–255 visible characters.',
  no_handler: 'There is nothing to run. Give `handler` or `on`, or use an adapter’s middleware form.',
  lease_lost: 'The handler succeeded after its claim had passed to another run: the effect may have happened twice.',
  route_answered: 'The app’s route answered with no 2xx, so the event counts as not handled.',
  route_closed: 'The app’s route destroyed its response, so the event is free again and will be sent again.',
  route_limit:
    'The app’s route had not answered within `handlerLimitSeconds`, so its claim was given up. Factuarea sends the event again.',
  commit_rolled_back:
    'The database rolled the transaction back: often an SQL error that the handler caught. Factuarea sends the event again.',
  body_too_large: 'The body is over `bodyLimit`. Factuarea will not send it again: raise the limit, then replay it.',
  unsupported_encoding: 'The body is compressed. Factuarea never does that: look for a proxy that does.',
  body_incomplete: 'The body ended early. A proxy or the framework may have cut it; Factuarea sends it again.',
  body_unavailable: 'Something else read the body first. Mount this before any body parser.',
  secret_missing: 'No usable secret. Set FACTUAREA_WEBHOOK_SECRET or the option `secret`.',
  store_unavailable: 'The store did not answer, so the handler was not run. Factuarea sends the event again.',
  handler_failed: 'The handler threw. The claim is free again and Factuarea sends the event again.',
  permanent_failure: 'The handler gave up for good. Factuarea will not send it again: mend the cause, then replay it.',
  deadline_exceeded: 'The handler is still running. Its success will be recorded; until then repeats get 503.',
  handled_unrecorded: 'The handler succeeded, but the store could not record it: a later copy will be handled again.',
  commit_failed: 'The transaction did not commit, or its outcome is unknown. Factuarea sends the event again.',
  internal_error: 'An unexpected error. Factuarea sends the event again.',
};
