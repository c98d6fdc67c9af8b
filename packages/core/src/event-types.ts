/**
 * The event types known when this version was made. Factuarea adds types without notice, and they are received just
 * the same: see `UnknownEvent`.
 *
 * `resource` is the key under `data` in the older payload shapes and `data.object.object` in the newest; `fields`
 * are those of the oldest shape's resource; `extra` are further keys beside the resource.
 */
export interface EventTypes {
  'client.created': {
    resource: 'client';
    fields: { uuid: string; name: string | null; tax_id: string | null };
    extra: never;
  };
  'client.deleted': {
    resource: 'client';
    fields: { uuid: string; name: string | null };
    extra: never;
  };
  'client.metadata_changed': {
    resource: 'client';
    fields: { uuid: string };
    extra: 'new_keys' | 'previous_keys';
  };
  'client.updated': {
    resource: 'client';
    fields: { uuid: string };
    extra: never;
  };
  'delivery_note.converted': {
    resource: 'delivery_note';
    fields: { uuid: string };
    extra: 'target';
  };
  'delivery_note.created': {
    resource: 'delivery_note';
    fields: { uuid: string };
    extra: never;
  };
  'delivery_note.signed': {
    resource: 'delivery_note';
    fields: { uuid: string };
    extra: never;
  };
  'delivery_note.status_changed': {
    resource: 'delivery_note';
    fields: { uuid: string; number: string | null };
    extra: 'delivery_date' | 'from_status' | 'to_status';
  };
  'delivery_note.updated': {
    resource: 'delivery_note';
    fields: { uuid: string };
    extra: never;
  };
  'invoice.annulled': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'annulled_at' | 'reason';
  };
  'invoice.cancelled': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'cancelled_at';
  };
  'invoice.created': {
    resource: 'invoice';
    fields: {
      uuid: string;
      number: string | null;
      client_uuid: string;
      total: number;
      status: string;
      is_corrective: boolean;
    };
    extra: never;
  };
  'invoice.deleted': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: never;
  };
  'invoice.email_failed': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'error_class' | 'error_message' | 'recipient_email';
  };
  'invoice.email_sent': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'invoice_number' | 'recipient_email';
  };
  'invoice.metadata_changed': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'new_keys' | 'previous_keys';
  };
  'invoice.number_assigned': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'new_number' | 'previous_number';
  };
  'invoice.overdue': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'days_overdue' | 'due_date';
  };
  'invoice.paid': {
    resource: 'invoice';
    fields: {
      uuid: string;
      client_uuid: string;
      amount: number;
      payment_date: string | null;
      payment_method: string | null;
      payment_reference: string | null;
    };
    extra: never;
  };
  'invoice.payment_reminder_sent': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'invoice_number' | 'recipient_email';
  };
  'invoice.rectified': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'corrective_invoice_number' | 'corrective_invoice_uuid';
  };
  'invoice.sent': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: never;
  };
  'invoice.simplified_created': {
    resource: 'invoice';
    fields: { uuid: string; client_uuid: string };
    extra: 'invoice_number';
  };
  'invoice.simplified_substituted': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'substituted_invoice_uuids';
  };
  'invoice.substituted_by_complete': {
    resource: 'invoice';
    fields: { uuid: string };
    extra: 'substitute_invoice_number' | 'substitute_invoice_uuid';
  };
  'invoice.updated': {
    resource: 'invoice';
    fields: { uuid: string; number: string | null; client_uuid: string; total: number };
    extra: never;
  };
  'invoice.verifactu_failed': {
    resource: 'invoice';
    fields: {
      uuid: string;
      verifactu_record_id: string | null;
      error_code: string | null;
      error_message: string | null;
    };
    extra: never;
  };
  'invoice.verifactu_submitted': {
    resource: 'invoice';
    fields: { uuid: string; verifactu_record_id: string | null; huella: string | null };
    extra: never;
  };
  'payment.received': {
    resource: 'payment';
    fields: { uuid: string; invoice_uuid: string | null; amount: number; method: string | null };
    extra: never;
  };
  'product.created': {
    resource: 'product';
    fields: { uuid: string; name: string | null; sku: string | null };
    extra: never;
  };
  'product.updated': {
    resource: 'product';
    fields: { uuid: string };
    extra: never;
  };
  'proforma.accepted': {
    resource: 'proforma';
    fields: { uuid: string };
    extra: never;
  };
  'proforma.cancelled': {
    resource: 'proforma';
    fields: { uuid: string };
    extra: never;
  };
  'proforma.converted_to_invoice': {
    resource: 'proforma';
    fields: { uuid: string };
    extra: 'target';
  };
  'proforma.created': {
    resource: 'proforma';
    fields: { uuid: string };
    extra: never;
  };
  'proforma.deleted': {
    resource: 'proforma';
    fields: { uuid: string };
    extra: never;
  };
  'proforma.expired': {
    resource: 'proforma';
    fields: { uuid: string };
    extra: never;
  };
  'proforma.metadata_changed': {
    resource: 'proforma';
    fields: { uuid: string };
    extra: never;
  };
  'proforma.number_assigned': {
    resource: 'proforma';
    fields: { uuid: string };
    extra: never;
  };
  'proforma.rejected': {
    resource: 'proforma';
    fields: { uuid: string };
    extra: never;
  };
  'proforma.updated': {
    resource: 'proforma';
    fields: { uuid: string };
    extra: never;
  };
  'purchase_invoice.cancelled': {
    resource: 'purchase_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'purchase_invoice.created': {
    resource: 'purchase_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'purchase_invoice.metadata_changed': {
    resource: 'purchase_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'purchase_invoice.paid': {
    resource: 'purchase_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'purchase_invoice.updated': {
    resource: 'purchase_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'quote.approved': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.cancelled': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.converted': {
    resource: 'quote';
    fields: { uuid: string };
    extra: 'target' | 'target_uuid';
  };
  'quote.created': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.deleted': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.expired': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.marked_as_pending': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.metadata_changed': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.number_assigned': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.rejected': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'quote.updated': {
    resource: 'quote';
    fields: { uuid: string };
    extra: never;
  };
  'recurring_invoice.activated': {
    resource: 'recurring_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'recurring_invoice.cancelled': {
    resource: 'recurring_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'recurring_invoice.completed': {
    resource: 'recurring_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'recurring_invoice.created': {
    resource: 'recurring_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'recurring_invoice.deleted': {
    resource: 'recurring_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'recurring_invoice.executed': {
    resource: 'invoice';
    fields: { uuid: string; number: string | null };
    extra: 'next_run_date' | 'occurrence_number';
  };
  'recurring_invoice.failed': {
    resource: 'recurring_invoice';
    fields: { uuid: string };
    extra: 'attempt_number' | 'error_message';
  };
  'recurring_invoice.metadata_changed': {
    resource: 'recurring_invoice';
    fields: { uuid: string };
    extra: 'new_keys' | 'previous_keys';
  };
  'recurring_invoice.paused': {
    resource: 'recurring_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'recurring_invoice.updated': {
    resource: 'recurring_invoice';
    fields: { uuid: string };
    extra: never;
  };
  'series.archived': {
    resource: 'series';
    fields: { uuid: string; document_type: string | null };
    extra: never;
  };
  'series.created': {
    resource: 'series';
    fields: { uuid: string; code: string | null; document_type: string | null; year: number | null };
    extra: never;
  };
  'series.deleted': {
    resource: 'series';
    fields: { uuid: string };
    extra: never;
  };
  'series.demoted_from_default': {
    resource: 'series';
    fields: { uuid: string; document_type: string | null };
    extra: never;
  };
  'series.marked_as_default': {
    resource: 'series';
    fields: { uuid: string; document_type: string | null };
    extra: never;
  };
  'series.number_consumed': {
    resource: 'series';
    fields: { uuid: string; code: string | null; year: number | null };
    extra: 'number';
  };
  'series.unarchived': {
    resource: 'series';
    fields: { uuid: string; document_type: string | null };
    extra: never;
  };
  'series.updated': {
    resource: 'series';
    fields: { uuid: string };
    extra: never;
  };
  'series.year_reset': {
    resource: 'series';
    fields: { uuid: string };
    extra: 'new_year' | 'old_year';
  };
  'tax.external_reference_changed': {
    resource: 'tax';
    fields: { uuid: string };
    extra: 'new_code' | 'previous_code';
  };
  'tax.metadata_changed': {
    resource: 'tax';
    fields: { uuid: string };
    extra: 'new_keys' | 'previous_keys';
  };
  'tax.validity_changed': {
    resource: 'tax';
    fields: { uuid: string };
    extra: 'new_valid_from' | 'new_valid_until' | 'previous_valid_from' | 'previous_valid_until';
  };
}
