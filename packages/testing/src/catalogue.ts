import type { EventTypes, KnownEventType } from '@factuarea-webhook/core';
import { samples as s } from './samples.ts';

/** What an event of one type is made of. */
export interface CatalogueEntry<Type extends KnownEventType = KnownEventType> {
  /** The key under `data` in the older payloads, and `data.object.object` in the newest. */
  readonly resource: EventTypes[Type]['resource'];
  /** The resource's fields in the oldest payloads. */
  readonly fields: Readonly<EventTypes[Type]['fields']>;
  /** Further keys beside the resource in the oldest payloads. */
  readonly extra: { readonly [Key in EventTypes[Type]['extra']]: unknown };
}

/** Most types: a resource of which the oldest payloads give the id only. */
function only<Resource extends string>(
  resource: Resource,
): { resource: Resource; fields: { uuid: string }; extra: object } {
  return { resource, fields: { uuid: s.uuid }, extra: {} };
}

/** Every known event type, with a sample for each of its fields. The core's types hold it complete. */
export const catalogue: { readonly [Type in KnownEventType]: CatalogueEntry<Type> } = {
  'client.created': { resource: 'client', fields: { uuid: s.uuid, name: s.name, tax_id: s.tax_id }, extra: {} },
  'client.deleted': { resource: 'client', fields: { uuid: s.uuid, name: s.name }, extra: {} },
  'client.metadata_changed': {
    resource: 'client',
    fields: { uuid: s.uuid },
    extra: { new_keys: s.new_keys, previous_keys: s.previous_keys },
  },
  'client.updated': only('client'),
  'delivery_note.converted': { resource: 'delivery_note', fields: { uuid: s.uuid }, extra: { target: s.target } },
  'delivery_note.created': only('delivery_note'),
  'delivery_note.signed': only('delivery_note'),
  'delivery_note.status_changed': {
    resource: 'delivery_note',
    fields: { uuid: s.uuid, number: s.number },
    extra: { delivery_date: s.delivery_date, from_status: s.from_status, to_status: s.to_status },
  },
  'delivery_note.updated': only('delivery_note'),
  'invoice.annulled': {
    resource: 'invoice',
    fields: { uuid: s.uuid },
    extra: { annulled_at: s.annulled_at, reason: s.reason },
  },
  'invoice.cancelled': { resource: 'invoice', fields: { uuid: s.uuid }, extra: { cancelled_at: s.cancelled_at } },
  'invoice.created': {
    resource: 'invoice',
    fields: {
      uuid: s.uuid,
      number: s.number,
      client_uuid: s.client_uuid,
      total: s.total,
      status: s.status,
      is_corrective: s.is_corrective,
    },
    extra: {},
  },
  'invoice.deleted': only('invoice'),
  'invoice.email_failed': {
    resource: 'invoice',
    fields: { uuid: s.uuid },
    extra: { error_class: s.error_class, error_message: s.error_message, recipient_email: s.recipient_email },
  },
  'invoice.email_sent': {
    resource: 'invoice',
    fields: { uuid: s.uuid },
    extra: { invoice_number: s.invoice_number, recipient_email: s.recipient_email },
  },
  'invoice.metadata_changed': {
    resource: 'invoice',
    fields: { uuid: s.uuid },
    extra: { new_keys: s.new_keys, previous_keys: s.previous_keys },
  },
  'invoice.number_assigned': {
    resource: 'invoice',
    fields: { uuid: s.uuid },
    extra: { new_number: s.new_number, previous_number: s.previous_number },
  },
  'invoice.overdue': {
    resource: 'invoice',
    fields: { uuid: s.uuid },
    extra: { days_overdue: s.days_overdue, due_date: s.due_date },
  },
  'invoice.paid': {
    resource: 'invoice',
    fields: {
      uuid: s.uuid,
      client_uuid: s.client_uuid,
      amount: s.amount,
      payment_date: s.payment_date,
      payment_method: s.payment_method,
      payment_reference: s.payment_reference,
    },
    extra: {},
  },
  'invoice.payment_reminder_sent': {
    resource: 'invoice',
    fields: { uuid: s.uuid },
    extra: { invoice_number: s.invoice_number, recipient_email: s.recipient_email },
  },
  'invoice.rectified': {
    resource: 'invoice',
    fields: { uuid: s.uuid },
    extra: {
      corrective_invoice_number: s.corrective_invoice_number,
      corrective_invoice_uuid: s.corrective_invoice_uuid,
    },
  },
  'invoice.sent': only('invoice'),
  'invoice.simplified_created': {
    resource: 'invoice',
    fields: { uuid: s.uuid, client_uuid: s.client_uuid },
    extra: { invoice_number: s.invoice_number },
  },
  'invoice.simplified_substituted': {
    resource: 'invoice',
    fields: { uuid: s.uuid },
    extra: { substituted_invoice_uuids: s.substituted_invoice_uuids },
  },
  'invoice.substituted_by_complete': {
    resource: 'invoice',
    fields: { uuid: s.uuid },
    extra: {
      substitute_invoice_number: s.substitute_invoice_number,
      substitute_invoice_uuid: s.substitute_invoice_uuid,
    },
  },
  'invoice.updated': {
    resource: 'invoice',
    fields: { uuid: s.uuid, number: s.number, client_uuid: s.client_uuid, total: s.total },
    extra: {},
  },
  'invoice.verifactu_failed': {
    resource: 'invoice',
    fields: {
      uuid: s.uuid,
      verifactu_record_id: s.verifactu_record_id,
      error_code: s.error_code,
      error_message: s.error_message,
    },
    extra: {},
  },
  'invoice.verifactu_submitted': {
    resource: 'invoice',
    fields: { uuid: s.uuid, verifactu_record_id: s.verifactu_record_id, huella: s.huella },
    extra: {},
  },
  'payment.received': {
    resource: 'payment',
    fields: { uuid: s.uuid, invoice_uuid: s.invoice_uuid, amount: s.amount, method: s.method },
    extra: {},
  },
  'product.created': { resource: 'product', fields: { uuid: s.uuid, name: 'Mantenimiento', sku: s.sku }, extra: {} },
  'product.updated': only('product'),
  'proforma.accepted': only('proforma'),
  'proforma.cancelled': only('proforma'),
  'proforma.converted_to_invoice': { resource: 'proforma', fields: { uuid: s.uuid }, extra: { target: s.target } },
  'proforma.created': only('proforma'),
  'proforma.deleted': only('proforma'),
  'proforma.expired': only('proforma'),
  'proforma.metadata_changed': only('proforma'),
  'proforma.number_assigned': only('proforma'),
  'proforma.rejected': only('proforma'),
  'proforma.updated': only('proforma'),
  'purchase_invoice.cancelled': only('purchase_invoice'),
  'purchase_invoice.created': only('purchase_invoice'),
  'purchase_invoice.metadata_changed': only('purchase_invoice'),
  'purchase_invoice.paid': only('purchase_invoice'),
  'purchase_invoice.updated': only('purchase_invoice'),
  'quote.approved': only('quote'),
  'quote.cancelled': only('quote'),
  'quote.converted': {
    resource: 'quote',
    fields: { uuid: s.uuid },
    extra: { target: s.target, target_uuid: s.target_uuid },
  },
  'quote.created': only('quote'),
  'quote.deleted': only('quote'),
  'quote.expired': only('quote'),
  'quote.marked_as_pending': only('quote'),
  'quote.metadata_changed': only('quote'),
  'quote.number_assigned': only('quote'),
  'quote.rejected': only('quote'),
  'quote.updated': only('quote'),
  'recurring_invoice.activated': only('recurring_invoice'),
  'recurring_invoice.cancelled': only('recurring_invoice'),
  'recurring_invoice.completed': only('recurring_invoice'),
  'recurring_invoice.created': only('recurring_invoice'),
  'recurring_invoice.deleted': only('recurring_invoice'),
  'recurring_invoice.executed': {
    resource: 'invoice',
    fields: { uuid: s.uuid, number: s.number },
    extra: { next_run_date: s.next_run_date, occurrence_number: s.occurrence_number },
  },
  'recurring_invoice.failed': {
    resource: 'recurring_invoice',
    fields: { uuid: s.uuid },
    extra: { attempt_number: s.attempt_number, error_message: s.error_message },
  },
  'recurring_invoice.metadata_changed': {
    resource: 'recurring_invoice',
    fields: { uuid: s.uuid },
    extra: { new_keys: s.new_keys, previous_keys: s.previous_keys },
  },
  'recurring_invoice.paused': only('recurring_invoice'),
  'recurring_invoice.updated': only('recurring_invoice'),
  'series.archived': { resource: 'series', fields: { uuid: s.uuid, document_type: s.document_type }, extra: {} },
  'series.created': {
    resource: 'series',
    fields: { uuid: s.uuid, code: s.code, document_type: s.document_type, year: s.year },
    extra: {},
  },
  'series.deleted': only('series'),
  'series.demoted_from_default': {
    resource: 'series',
    fields: { uuid: s.uuid, document_type: s.document_type },
    extra: {},
  },
  'series.marked_as_default': {
    resource: 'series',
    fields: { uuid: s.uuid, document_type: s.document_type },
    extra: {},
  },
  'series.number_consumed': {
    resource: 'series',
    fields: { uuid: s.uuid, code: s.code, year: s.year },
    extra: { number: s.number },
  },
  'series.unarchived': { resource: 'series', fields: { uuid: s.uuid, document_type: s.document_type }, extra: {} },
  'series.updated': only('series'),
  'series.year_reset': {
    resource: 'series',
    fields: { uuid: s.uuid },
    extra: { new_year: s.new_year, old_year: s.old_year },
  },
  'tax.external_reference_changed': {
    resource: 'tax',
    fields: { uuid: s.uuid },
    extra: { new_code: s.new_code, previous_code: s.previous_code },
  },
  'tax.metadata_changed': {
    resource: 'tax',
    fields: { uuid: s.uuid },
    extra: { new_keys: s.new_keys, previous_keys: s.previous_keys },
  },
  'tax.validity_changed': {
    resource: 'tax',
    fields: { uuid: s.uuid },
    extra: {
      new_valid_from: s.new_valid_from,
      new_valid_until: s.new_valid_until,
      previous_valid_from: s.previous_valid_from,
      previous_valid_until: s.previous_valid_until,
    },
  },
};
