/** Invoices, pro formas and recurring invoices. What the keys mean is said at `EventTypes`. */
export interface InvoiceEventTypes {
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
}
