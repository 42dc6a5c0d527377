import { z } from 'zod'
import { alarmSeverities } from '../alarms/alarm-rules.ts'
import { accountSettingsSchema } from '../campaigns/shipping-settings.ts'
import { commandKinds } from '../commands/command.ts'
import { movementKinds } from '../inventory/log-reasons.ts'
import { discrepancyKinds } from '../inventory/reconciliation.ts'
import { sellerModes } from '../shadow/mode.ts'
import { beforeAndAfter, count, day, list, listed, maybe, month, text, time } from './parts.ts'

// Schemas of the data of changes, by subject. Times are ISO 8601 in UTC; money and other decimals are text. Terms of the marketplace are text.

// ── orders ──

const lineStatus = z.object({
  status: text,
  quantity: count,
  cancellationReason: maybe,
  carrier: maybe,
  trackingNumber: maybe,
})

const lineState = z.object({
  ordered: count,
  acknowledged: count,
  shipped: count,
  cancelled: count,
  refunded: count,
  refundedAmount: text,
  intentToCancel: z.boolean(),
  statuses: list(lineStatus),
})

const header = z.object({
  customerOrderId: maybe,
  orderDate: time.nullable(),
  orderType: maybe,
  shipNodeType: maybe,
  methodCode: maybe,
  estimatedShipDate: time.nullable(),
  estimatedDeliveryDate: time.nullable(),
  totalAmount: maybe,
  currency: maybe,
})

/** Of `order.seen`. */
export const orderSeenSchema = z.object({
  customerOrderId: maybe,
  orderDate: time.nullable(),
  shipNodeType: maybe,
  lines: list(z.object({ lineNumber: text, sku: maybe, ordered: count })),
})

/** Of `order.changed`. */
export const orderChangedSchema = z.object({
  fields: list(text).meta({
    description:
      'Names of the changed fields. Fields of the buyer (`customerName`, `shippingAddress`) are named, but only the order has their values.',
  }),
  ...beforeAndAfter(header),
})

/** Of `order_line.changed`; the change has the id of the line. */
export const orderLineChangedSchema = z.object({
  sku: maybe,
  before: lineState.nullable().meta({ description: 'Null: the line is new.' }),
  after: lineState,
})

/** Of changes without data. */
export const emptySchema = z.object({})

/** Of `order.erased` and `return.erased`. */
export const erasedSchema = z.object({ customerOrderId: text })

// ── returns ──

const returnLineState = {
  quantity: count,
  refundedQuantity: count.nullable(),
  refundCoveredBy: maybe,
  status: maybe,
  trackingStatuses: list(z.object({ status: maybe, currentRefundStatus: maybe, quantity: count.nullable() })),
  refundChannels: list(z.object({ refundChannelName: maybe, quantity: count.nullable() })),
}

/** Of `return.seen`. */
export const returnSeenSchema = z.object({
  customerOrderId: maybe,
  returnType: maybe,
  totalRefundAmount: maybe,
  currency: maybe,
  lines: list(
    z.object({
      returnOrderLineNumber: z.int(),
      purchaseOrderId: maybe,
      purchaseOrderLineNumber: maybe,
      sku: maybe,
      ...returnLineState,
    }),
  ),
})

/** Of `return_line.changed`. */
export const returnLineChangedSchema = z.object({
  sku: maybe,
  before: z.object(returnLineState).nullable().meta({ description: 'Null: the line is new.' }),
  after: z.object(returnLineState),
})

// ── commands and events ──

const lineQuantities = list(z.object({ lineNumber: text, quantity: count }))

/** Of `command.*`. */
export const commandSchema = z.object({
  kind: z.enum(commandKinds),
  lines: lineQuantities.meta({ description: 'Units of each line; empty for kinds without units.' }),
  event: z.object({ source: text, id: text }).optional().meta({ description: 'With `pending`: the event that caused it.' }),
  applied: lineQuantities.optional().meta({ description: 'Applied units, if an operator decided by line.' }),
  reason: text
    .optional()
    .meta({ description: 'Why it is in this state; absent for a new command, and after its buyer was erased.' }),
})

/** Of `event.rejected`. */
export const eventRejectedSchema = z.object({
  source: text,
  id: text,
  type: text,
  code: text,
  errors: list(z.object({ path: text, message: text })).optional(),
  actor: text.optional().meta({ description: 'The operator who rejected it; absent if the daemon did.' }),
  reason: text.optional(),
})

// ── alarms ──

const alarm = {
  alarmId: text.meta({ description: 'Its id in `GET /v1/alarms`, which returns its message.' }),
  kind: text.meta({ description: 'A kind of docs/alarms.md.' }),
  severity: z.enum(alarmSeverities),
  concerns: text.meta({ description: 'The responsible role: `warehouse`, `integrator` or `operator`.' }),
  title: text,
  subject: maybe.meta({ description: 'Its subject within its kind; null if it is an id of an ERP.' }),
  count: count.nullable().meta({ description: 'Number of affected records; null: only its subject.' }),
  dueAt: time.nullable().meta({ description: 'The earliest deadline; null: there is none.' }),
}

/** Of `alarm.raised`. */
export const alarmRaisedSchema = z.object(alarm)
/** Of `alarm.silenced`. */
export const alarmSilencedSchema = z.object({ ...alarm, until: time, by: text.meta({ description: 'The operator.' }) })
/** Of `alarm.resolved`. */
export const alarmResolvedSchema = z.object({
  ...alarm,
  by: maybe.meta({ description: 'The operator; null: its cause ended.' }),
})

// ── sellers ──

/** Of `seller.stopped`. */
export const sellerStoppedSchema = z.object({ reason: text })
/** Of `seller.paused`. */
export const sellerPausedSchema = z.object({ actor: text, reason: text })
/** Of `seller.resumed`. */
export const sellerResumedSchema = z.object({
  by: z.enum(['start', 'settings', 'probe', 'person']).meta({ description: 'What resumed it; `person`: an operator.' }),
  actor: text.optional(),
  reason: maybe.optional(),
})
/** Of `seller.mode_changed`. */
export const sellerModeSchema = z.object({ mode: z.enum(sellerModes), actor: text, reason: text })
/** Of `seller.removed`. */
export const sellerRemovedSchema = z.object({
  actor: text,
  reason: maybe,
  deleted: z
    .boolean()
    .meta({ description: 'True: it had no data and is deleted; false: it is hidden, and its data is readable.' }),
})
/** Of `seller.returned`. */
export const sellerReturnedSchema = z.object({
  by: z.enum(['start', 'settings']).meta({ description: 'What returned it: the start of a process, or reloaded settings.' }),
})
/** Of `seller.enrolment_changed`. */
export const enrolmentChangedSchema = z.object({ resource: text, enrolled: z.boolean() })

/** Of `shipping_settings.created`. */
export const settingsCreatedSchema = accountSettingsSchema
/** Of `shipping_settings.changed`. */
export const settingsChangedSchema = z.object(beforeAndAfter(accountSettingsSchema))

// ── campaigns ──

const campaignTerms = {
  name: maybe,
  startDate: day.nullable(),
  endDate: day.nullable(),
  dailyBudget: maybe,
  totalBudget: maybe,
  targetRoas: maybe,
}

/** Of `campaign.missing` and `campaign.found`. */
export const campaignSchema = z.object({ campaignId: text })
/** Of `campaign.added`. */
export const campaignAddedSchema = z.object({ campaignId: text, status: text, ...campaignTerms })
/** Of `campaign.changed`. */
export const campaignChangedSchema = z.object({ campaignId: text, ...beforeAndAfter(z.object(campaignTerms)) })
/** Of `campaign.status_changed`. */
export const campaignStatusChangedSchema = z.object({
  campaignId: text,
  from: text,
  to: text,
  legal: z.boolean().meta({ description: 'Whether the specification lists the transition.' }),
  missed: list(text)
    .nullable()
    .meta({ description: 'States that were skipped between the two, if listed transitions explain it.' }),
})

// ── lists that are read completely ──

/** Of the changes `….loaded`. */
const loaded = {
  count: count.meta({ description: 'Records of the first complete reading. They have no separate changes.' }),
  parts: z
    .record(text, count)
    .meta({ description: 'Records by part of the list: level, or kind of audience; empty for a list without parts.' }),
}

/** Of `taxonomy.loaded`, `sales_channel.loaded` and `stock.loaded`. */
export const loadedSchema = z.object(loaded)
/** Of `target.loaded`. */
export const targetsLoadedSchema = z.object({ tactic: z.enum(['contextual', 'behavioral']), ...loaded })

/** Of `taxonomy_node.*`. */
export const taxonomyNodeSchema = listed(
  { level: z.int(), path: list(text) },
  z.object({
    itemCount: count.nullable(),
    attributes: z.object({ type: maybe, values: list(z.object({ value: text, count: count.nullable() })) }).nullable(),
  }),
)

/** Of `target.*`. */
export const targetSchema = listed(
  { tactic: z.enum(['contextual', 'behavioral']), id: text },
  z.object({
    name: maybe,
    taxonPath: list(text).nullable(),
    isDisabled: z.boolean().nullable(),
    reach: list(text).optional().meta({ description: 'Of contextual targets.' }),
    reachBands: list(text).optional().meta({ description: 'Of contextual targets.' }),
    audienceType: maybe.optional().meta({ description: 'Of behavioral audiences.' }),
    attribute: maybe.optional().meta({ description: 'Of behavioral audiences.' }),
  }),
)

/** Of `sales_channel.*`. */
export const salesChannelSchema = listed(
  { orderChannelId: text },
  z.object({
    orderChannelName: maybe,
    boxCatalogType: maybe,
    shippingMethods: maybe,
    active: z.boolean().nullable(),
  }),
)

// ── inventory ──

const recommendation = z.object({ suggestedQuantity: z.int().nullable(), maxQuantity: z.int().nullable() })

/** Of `replenishment.changed`. */
export const replenishmentChangedSchema = z.object({
  sku: text,
  before: recommendation.nullable().meta({ description: 'Null: there was none.' }),
  after: recommendation.nullable().meta({ description: 'Null: there is none now.' }),
})

const logEntry = z.object({
  changedUnits: z.int(),
  transactionTime: time,
  transactionLocation: maybe,
  transactionReasonCode: maybe,
  transactionType: maybe,
})

/** Of `inventory_log.entries_added`. */
export const entriesAddedSchema = z.object({ sku: text, gtin: maybe, count, netUnits: z.int(), earliest: time, latest: time })
/** Of `inventory_log.entry_changed`. */
export const entryChangedSchema = z.object({ sku: text, gtin: maybe, entryId: text, ...beforeAndAfter(logEntry) })
/** Of `inventory_log.entry_gone`. */
export const entryGoneSchema = z.object({ sku: text, entryId: text, transactionTime: time, changedUnits: z.int() })
/** Of `inventory_log.unknown_reason`. */
export const unknownReasonSchema = z.object({ reason: text, countsAs: z.enum(movementKinds) })

const reportUnits = z.object({
  beginningQuantity: z.int(),
  endingQuantity: z.int(),
  sold: z.int(),
  returned: z.int(),
  lost: z.int(),
  found: z.int(),
  damaged: z.int(),
  otherAdjustments: z.int(),
})

/** Of `reconciliation_report.imported`. */
export const reportImportedSchema = z.object({
  reportId: text,
  month,
  generatedAt: time,
  coveredUntil: time,
  lines: count.optional().meta({ description: 'All lines of the file: rows and skipped lines.' }),
  rows: count,
  quarantined: count.optional().meta({ description: 'Unreadable rows.' }),
  skipped: count.optional().meta({ description: 'Header, blank lines, totals, text, and continuation lines of rows.' }),
  changed: count,
  gone: count,
})
/** Of `reconciliation_row.changed`. */
export const reportRowChangedSchema = z.object({
  sku: text,
  gtin: maybe,
  month,
  before: reportUnits.nullable().meta({ description: 'Null: the row did not exist.' }),
  after: reportUnits,
})
/** Of `reconciliation_row.gone`. */
export const reportRowGoneSchema = z.object({ sku: text, gtin: maybe, month })

const discrepancy = { id: text, sku: text, gtin: maybe, month, kind: z.enum(discrepancyKinds) }

/** Of `inventory_discrepancy.found` and `.changed`. */
export const discrepancySchema = z.object({
  ...discrepancy,
  reportUnits: z.int(),
  expectedUnits: z.int(),
  difference: z.int(),
  logVerdict: z.enum(['missing', 'extra']).nullable(),
  value: maybe,
  currency: maybe,
})
/** Of `inventory_discrepancy.resolved`. */
export const discrepancyResolvedSchema = z.object({ ...discrepancy, resolution: z.enum(['agrees', 'withdrawn']) })
