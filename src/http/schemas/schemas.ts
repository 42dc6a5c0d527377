import { z } from 'zod'
import { alarmSeverities } from '../../domain/alarms/alarm-rules.ts'
import { campaignUrgencies } from '../../domain/campaigns/campaign.ts'
import { commandKinds, commandStates } from '../../domain/commands/command.ts'
import { eventStates } from '../../domain/events/event-shape.ts'
import { claimCertainties, claimStates } from '../../domain/inventory/claim-states.ts'
import { claimKinds } from '../../domain/inventory/claims.ts'
import { discrepancyKinds } from '../../domain/inventory/reconciliation.ts'
import { paymentProblems, reimbursedUnits } from '../../domain/settlements/reimbursements.ts'
import { orderPayoutSchema } from './settlements.ts'

// Shapes of answers. Dates are sent as ISO 8601 in UTC, bigints and decimals as text.

const count = z.int().nonnegative()
const open = z.unknown().meta({ description: 'Any JSON, as stored.' })

/** State of a command: see `commandStates`. */
export const commandStateSchema = z.enum(commandStates)

/** The actor that a request names. */
export const actorSchema = z.string().trim().min(1, 'must not be empty').max(200).optional().meta({
  description:
    'The actor for the audit; default `operator`. With a named key the actor is the name of the key, on behalf of this one.',
})

/** Body of a decision: actor and reason. */
export const actorAndReason = {
  actor: actorSchema,
  reason: z.string().trim().min(1, 'must not be empty').max(2_000).meta({ description: 'Why.' }),
}

const faultSchema = z.object({ path: z.string(), message: z.string() })

/** State of an event. */
export const eventStateSchema = z
  .enum(eventStates)
  .meta({ description: 'received: stored, not decided yet; accepted: its commands exist; rejected: see `problem`.' })

const eventProblemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  errors: z.array(faultSchema).readonly(),
})

/** Result of one posted event. */
export const eventReceiptSchema = z
  .object({
    id: z.string(),
    source: z.string(),
    status: z
      .enum(['accepted', 'duplicate'])
      .meta({ description: 'duplicate: this source and id were posted before, with the same body.' }),
    state: eventStateSchema,
    commands: z.array(z.string()).readonly().meta({ description: 'Ids of its commands, in order.' }),
    problem: eventProblemSchema.nullable(),
  })
  .meta({ id: 'EventReceipt' })

/** The effect that one posted event would have (`dryRun`). */
export const eventForecastSchema = z
  .object({
    id: z.string(),
    source: z.string(),
    would: z.enum(['accepted', 'duplicate', 'rejected']),
    commands: z
      .array(
        z.object({
          kind: z.enum(commandKinds),
          lines: z.array(z.object({ lineNumber: z.string(), quantity: count })).readonly(),
          money: z
            .object({ amount: z.string(), currency: z.string() })
            .nullable()
            .meta({ description: 'Refunded amount with tax and fees; null: no refund, or several currencies.' }),
          request: open.meta({
            description:
              'The request that would be sent: operation, path and body, as in `attempts` of a command; null: none, because the order is acknowledged, or an earlier command will acknowledge it.',
          }),
        }),
      )
      .readonly()
      .meta({ description: 'In their order; empty for a duplicate.' }),
    problem: eventProblemSchema.nullable().meta({
      description:
        'Why it would be rejected. For an event that would be accepted: why it cannot be decided now (`order-not-stored`, `event-waits` or `batch-refused`).',
    }),
  })
  .meta({ id: 'EventForecast' })

const attemptSchema = z.object({
  attempt: count,
  correlationId: z.string(),
  request: open,
  baseline: open,
  startedAt: z.date(),
  finishedAt: z.date().nullable(),
  outcome: z.string().nullable(),
  httpStatus: z.int().nullable(),
  failure: open,
  readBacks: open,
})

const decisionSchema = z.object({
  decision: z.string(),
  actor: z.string(),
  reason: z.string(),
  evidence: open,
  decidedAt: z.date(),
})

const lineQuantities = z.array(z.object({ lineNumber: z.string(), quantity: count })).readonly()

/** A command with its attempts, evidence and decisions. */
export const commandSchema = z
  .object({
    id: z.string(),
    sequence: z
      .bigint()
      .meta({ description: 'Commands of one order, or on the shipping settings of one seller, run in this order.' }),
    sellerId: z.string(),
    purchaseOrderId: z.string().nullable().meta({ description: "null: the command concerns the seller's shipping settings." }),
    kind: z.string(),
    state: commandStateSchema,
    event: z.object({ source: z.string(), id: z.string() }).nullable(),
    payload: open,
    lines: lineQuantities,
    parts: z.object({ applied: lineQuantities, open: lineQuantities }).nullable().meta({
      description:
        'Decision of an operator line by line: the units that were applied, and those that are still to be sent. null: none.',
    }),
    reason: z.string().nullable(),
    evidence: open,
    correlationIds: z.array(z.string()).readonly(),
    attempts: z.array(attemptSchema).readonly(),
    decisions: z.array(decisionSchema).readonly(),
    nextActionAt: z.date().meta({
      description: 'When it is checked next. Whether it continues then depends on the rate limit: see `GET /v1/forecast`.',
    }),
    createdAt: z.date(),
    updatedAt: z.date(),
    settledAt: z.date().nullable(),
  })
  .meta({ id: 'Command' })

const waitsForSchema = z.string().nullable().meta({ description: 'Why it still waits, as of the last attempt to decide it.' })

const eventName = {
  source: z.string(),
  id: z.string(),
  type: z.string(),
}

const eventStateFields = {
  sellerId: z.string().nullable(),
  purchaseOrderId: z.string().nullable(),
  state: eventStateSchema,
  problem: eventProblemSchema.nullable(),
  waitsFor: waitsForSchema,
  receivedAt: z.date(),
  processedAt: z.date().nullable(),
}

/** A stored event as lists show it. */
export const listedEventSchema = z
  .object({
    sequence: z.bigint().meta({ description: 'Events of one order are decided in this order.' }),
    ...eventName,
    ...eventStateFields,
    commands: z.array(z.string()).readonly().meta({ description: 'Ids of its commands, in order.' }),
  })
  .meta({ id: 'ListedEvent' })

/** A stored event with its commands. */
export const eventSchema = z
  .object({
    sequence: z.bigint(),
    ...eventName,
    data: open,
    unreadable: z.string().nullable().meta({ description: 'Why `data` is not shown; null: it is.' }),
    dataRemovedAt: z.date().nullable().meta({
      description: 'When `data` was removed, except the ids of order and seller (`RETAIN_EVENTS`); null: it is complete.',
    }),
    ...eventStateFields,
    commands: z.array(commandSchema).readonly(),
  })
  .meta({ id: 'Event' })

const lineSummaryFields = {
  lineNumber: z.string(),
  sku: z.string().nullable(),
  ordered: count,
  acknowledged: count,
  shipped: count,
  cancelled: count,
  refunded: count,
}

const orderFields = {
  sellerId: z.string(),
  purchaseOrderId: z.string(),
  customerOrderId: z.string().nullable(),
  orderDate: z.date().nullable(),
  shipNodeType: z.string().nullable(),
  estimatedShipDate: z.date().nullable(),
  totalAmount: z.string().nullable(),
  currency: z.string().nullable(),
  open: z.boolean().meta({ description: 'Some units are neither shipped nor cancelled.' }),
  fulfilledBySeller: z.boolean().meta({ description: 'false: the marketplace ships it.' }),
  acknowledgeBy: z
    .date()
    .nullable()
    .meta({ description: 'By when its units must be acknowledged; null: nothing is left to acknowledge.' }),
  autoCancelAt: z.date().nullable().meta({
    description: 'When the marketplace cancels units that are not shipped; null: the order is not open, or has no ship date.',
  }),
  firstSeenAt: z.date(),
  changedAt: z.date(),
}

/** An order as lists show it. */
export const orderSummarySchema = z
  .object({ ...orderFields, lines: z.array(z.object(lineSummaryFields)).readonly() })
  .meta({ id: 'OrderSummary' })

const unitsSchema = z.object({ acknowledged: count, shipped: count, cancelled: count, refunded: count })

const ledgerSchema = z
  .object({
    reported: unitsSchema.meta({ description: 'What the marketplace last reported.' }),
    confirmed: z
      .object({ shipped: count, cancelled: count, refunded: count })
      .meta({ description: 'Units of confirmed commands.' }),
    reserved: z
      .object({ ship: count, cancel: count, refund: count })
      .meta({ description: 'Reserved by commands whose request has not been sent.' }),
    inFlight: z
      .object({ kind: z.enum(['ship', 'cancel', 'refund']), quantity: count, baseline: unitsSchema })
      .nullable()
      .meta({ description: 'Units of a command whose request may have taken effect; counted from the baseline.' }),
    available: z.object({ ship: count, cancel: count, refund: count }).meta({ description: 'What can still be reserved.' }),
  })
  .meta({ id: 'UnitLedger', description: 'All units of the line by state.' })

const lineStatusSchema = z.object({
  status: z.string(),
  quantity: count,
  cancellationReason: z.string().nullable(),
  carrier: z.string().nullable(),
  methodCode: z.string().nullable(),
  trackingNumber: z.string().nullable(),
  trackingUrl: z.string().nullable(),
  shippedAt: z.date().nullable(),
})

const shipmentSchema = z.object({
  carrier: z.string().nullable(),
  methodCode: z.string().nullable(),
  trackingNumber: z.string().nullable(),
  trackingUrl: z.string().nullable(),
  shippedAt: z.date().nullable(),
  quantity: count.meta({ description: 'The maximum of units of the line that were seen in it.' }),
  shownQuantity: count.meta({
    description: 'Units that the marketplace shows in it now. It shows refunded units without their parcel.',
  }),
})

const taxSchema = z.object({ taxName: z.string(), amount: z.string(), currency: z.string() }).nullable()

const chargeSchema = z.object({
  chargeType: z.string(),
  chargeName: z.string(),
  amount: z.string(),
  currency: z.string(),
  tax: taxSchema,
  taxAndOtherFees: taxSchema,
})

/** One row of the change feed. */
export const changeSchema = z
  .object({
    seq: z.bigint(),
    sellerId: z.string(),
    type: z.string(),
    purchaseOrderId: z.string().nullable(),
    lineNumber: z.string().nullable(),
    returnOrderId: z.string().nullable(),
    commandId: z.string().nullable(),
    data: open,
    occurredAt: z.date(),
  })
  .meta({ id: 'Change' })

/** One change as a CloudEvent. */
export const changeEventSchema = z
  .object({
    specversion: z.literal('1.0'),
    id: z.string().meta({ description: 'Sequence number of the change.' }),
    source: z.string().meta({ description: '`/tallyman/` and the seller.' }),
    type: z.string(),
    subject: z.string().optional().meta({ description: 'The purchase order, else the return, else the command.' }),
    time: z.string().meta({ format: 'date-time' }),
    datacontenttype: z.literal('application/json'),
    sequence: z.string().meta({ description: 'The same as `id`: its position in the feed.' }),
    sellerid: z.string().optional(),
    purchaseorderid: z.string().optional(),
    linenumber: z.string().optional(),
    returnorderid: z.string().optional(),
    commandid: z.string().optional(),
    data: open,
  })
  .meta({ id: 'ChangeEvent', description: 'A change as a CloudEvent 1.0.' })

const buyerFields = {
  customerName: z.string().nullable(),
  customerEmail: z.string().nullable(),
  customerPhone: z.string().nullable(),
  shippingAddress: z.record(z.string(), z.unknown()).nullable(),
}

/** The buyer of an order. */
export const buyerSchema = z.object(buyerFields).meta({ id: 'Buyer' })

/** One order with its history. */
export const orderSchema = z
  .object({
    ...orderFields,
    orderType: z.string().nullable(),
    methodCode: z.string().nullable(),
    estimatedDeliveryDate: z.date().nullable(),
    ...buyerFields,
    lines: z.array(
      z.object({
        ...lineSummaryFields,
        productName: z.string().nullable(),
        unitOfMeasure: z.string().nullable(),
        refundedAmount: z.string(),
        intentToCancel: z.boolean(),
        statuses: z.array(lineStatusSchema),
        shipments: z
          .array(shipmentSchema)
          .meta({ description: 'Every parcel of the line, also one that the marketplace no longer shows, as after a refund.' }),
        charges: z.array(chargeSchema),
        ledger: ledgerSchema.nullable(),
      }),
    ),
    commands: z.array(commandSchema).readonly(),
    history: z.object({
      versions: z
        .array(z.object({ firstSeenAt: z.date(), lastSeenAt: z.date().nullable(), raw: open }))
        .readonly()
        .meta({ description: 'Raw records of the marketplace, the newest 50, oldest first; the current one is the last.' }),
      changes: z.array(changeSchema).readonly().meta({ description: 'The newest 1,000, oldest first.' }),
    }),
    payouts: z
      .array(orderPayoutSchema)
      .readonly()
      .optional()
      .meta({ description: 'What settlement reports have paid so far, by currency. Not with `at`.' }),
    at: z
      .date()
      .optional()
      .meta({ description: 'The requested time. Only with `at`, like `version`, `validFrom` and `validTo`.' }),
    version: z.int().optional().meta({ description: 'The number of the version among the kept ones; 1: the oldest.' }),
    validFrom: z.date().optional().meta({ description: 'When the version was stored.' }),
    validTo: z
      .date()
      .nullable()
      .optional()
      .meta({ description: 'When the next version replaced it; null: it is the current one.' }),
  })
  .meta({ id: 'Order' })

/** State of one sync stream. */
export const syncSchema = z
  .object({
    sellerId: z.string(),
    resource: z.string(),
    stream: z.string(),
    watermark: z.date().nullable().meta({ description: "Everything up to here, by the marketplace's clock, has been read." }),
    windowFrom: z.date().nullable(),
    windowTo: z.date().nullable(),
    windowsPending: count,
    cursor: z.string().nullable(),
    pages: count,
    totals: z.object({
      windowsTotal: count,
      windowsDone: count,
      seen: count,
      changed: count,
      quarantined: count,
      windowSeen: count,
      windowTotal: count.nullable(),
      skipped: count.meta({ description: 'Parts that could not be read and were skipped.' }),
      outOfReachBefore: z.string().nullable().meta({
        description: 'The requested time before this is older than what the marketplace serves.',
      }),
    }),
    running: z.boolean(),
    lagMs: z.number().nullable().meta({ description: 'Time since the last run that read everything, in milliseconds.' }),
    behind: z.boolean().meta({ description: 'Its last success is more than five of its intervals and half an hour ago.' }),
    lastStartedAt: z.date().nullable(),
    lastSuccessAt: z.date().nullable(),
    lastError: z.string().nullable(),
    failures: count.meta({ description: 'Since the last success.' }),
    notEnrolled: z.string().nullable().meta({
      description: 'Why this seller counts as not enrolled; checked again weekly, or when the sync is started manually.',
    }),
  })
  .meta({ id: 'Sync' })

/** Lag of the streams of a resource. */
export const resourceLagSchema = z
  .object({
    resource: z.string(),
    streams: count,
    failing: count.meta({ description: 'Streams whose last run failed.' }),
    behind: count.meta({ description: 'Streams whose last success is more than five of their intervals and half an hour ago.' }),
    unread: count.meta({ description: 'Streams that have never read everything; backfills do not count.' }),
    lagMs: z.number().nullable().meta({
      description:
        'The longest time since a stream read everything, of the streams that run most often, in milliseconds. Slower ones, such as a daily reread, do not count. Null: none has read everything.',
    }),
    furthest: z
      .object({ sellerId: z.string(), stream: z.string() })
      .nullable()
      .meta({ description: 'The stream with that lag.' }),
  })
  .meta({ id: 'ResourceLag' })

/** Runs of a sync stream. */
export const syncRunSchema = z
  .object({
    id: z.bigint(),
    sellerId: z.string(),
    resource: z.string(),
    stream: z.string(),
    windowFrom: z.date().nullable().meta({ description: 'Beginning of the time that was read.' }),
    windowTo: z.date().nullable(),
    pages: count,
    seen: count.meta({ description: 'Records that were received.' }),
    changed: count.meta({ description: 'Records that were written.' }),
    quarantined: count,
    startedAt: z.date(),
    finishedAt: z.date(),
    error: z.string().nullable(),
    runs: count.meta({ description: 'Number of runs in this entry: consecutive runs that changed nothing are one entry.' }),
  })
  .meta({ id: 'SyncRun' })

const campaignFields = {
  sellerId: z.string(),
  campaignId: z.string(),
  name: z.string().nullable(),
  status: z.string().nullable().meta({ description: 'Null until the campaign has been read. Unknown values are stored too.' }),
  nextStatuses: z.array(z.string()).readonly().meta({ description: 'Transitions that the specification lists.' }),
  urgency: z.enum(campaignUrgencies).meta({ description: 'How often it is polled: near, running, waiting, ended.' }),
  startDate: z.string().nullable(),
  endDate: z.string().nullable().meta({ description: 'Null: open end.' }),
  dailyBudget: z.string().nullable(),
  totalBudget: z.string().nullable(),
  targetRoas: z.string().nullable(),
  createdDate: z.string().nullable(),
  watched: z.boolean(),
  source: z.string().nullable().meta({ description: 'Where it was added: settings, operator, sql.' }),
  missingSince: z.date().nullable().meta({ description: 'Since when the marketplace does not have this campaign.' }),
  problem: z.string().nullable().meta({ description: 'Why the last read failed.' }),
  observedAt: z.date().nullable().meta({ description: "When this version was read, by the marketplace's clock." }),
  firstSeenAt: z.date().nullable(),
  changedAt: z.date().nullable(),
}

/** A campaign as lists show it. */
export const campaignSchema = z.object(campaignFields).meta({ id: 'Campaign' })

/** A campaign with every change of its status. */
export const campaignDetailSchema = z
  .object({
    ...campaignFields,
    statusChanges: z
      .array(
        z.object({
          fromStatus: z.string().nullable().meta({ description: 'Null for the first status that was read.' }),
          toStatus: z.string(),
          seenAt: z.date().meta({ description: "When it was read, by the marketplace's clock." }),
          legal: z
            .boolean()
            .nullable()
            .meta({ description: 'Whether the specification lists the transition; null for the first status that was read.' }),
          missed: z
            .array(z.string())
            .readonly()
            .nullable()
            .meta({ description: 'Intermediate states that were missed, if listed transitions explain it; otherwise null.' }),
        }),
      )
      .readonly()
      .meta({ description: 'The newest 1,000, oldest first.' }),
  })
  .meta({ id: 'CampaignDetail' })

/** A record that could not be parsed. */
export const quarantinedSchema = z
  .object({
    id: z.bigint(),
    sellerId: z.string(),
    resource: z.string(),
    recordKey: z.string().nullable(),
    fault: z.string(),
    state: z.enum(['open', 'replayed', 'superseded', 'dismissed']),
    seenCount: count,
    rawText: z.string().meta({ description: "As received; for sessions without the buyer's data." }),
    masked: z.boolean().meta({ description: 'Texts of `rawText` are hidden: `POST /v1/quarantine/{id}/reveal` shows them.' }),
    firstSeenAt: z.date(),
    lastSeenAt: z.date(),
    replayedAt: z.date().nullable(),
    skipped: z.boolean().meta({
      description:
        'Not a record but a part of a list, or an order, that was skipped because it cannot be read; `rawText` identifies it.',
    }),
    retryAt: z.date().nullable().meta({ description: 'When the skipped part is requested again.' }),
    dismissedBy: z.string().nullable(),
    dismissedReason: z.string().nullable(),
  })
  .meta({ id: 'QuarantinedRecord' })

/** A condition that needs an operator's attention. */
export const alarmSchema = z
  .object({
    id: z.bigint(),
    sellerId: z.string(),
    kind: z.string(),
    subject: z.string(),
    message: z.string(),
    severity: z.enum(alarmSeverities),
    concerns: z.string().meta({ description: 'Who acts on it: `warehouse`, `integrator` or `operator`.' }),
    title: z.string(),
    toDo: z.string().meta({ description: 'What to do.' }),
    closes: z.enum(['cause', 'person']).meta({ description: '`person`: it stays open until a person resolves it.' }),
    list: z.string().nullable().meta({ description: 'Path of the list of its subjects; null: the message is complete.' }),
    count: z.int().nullable().meta({ description: 'Number of its subjects; null: the one in `subject`.' }),
    dueAt: z.date().nullable().meta({ description: 'The earliest deadline of its subjects; null: they have none.' }),
    raisedAt: z.date(),
    silencedUntil: z.date().nullable().meta({ description: 'It is silenced until this time.' }),
    silencedBy: z.string().nullable(),
    silencedReason: z.string().nullable(),
    resolvedAt: z.date().nullable(),
    resolvedBy: z.string().nullable().meta({ description: 'Who resolved it; null: it closed with its cause.' }),
    resolvedReason: z.string().nullable(),
  })
  .meta({ id: 'Alarm' })

/** A difference between the units that the marketplace's inventory report states and the expected units. */
export const discrepancySchema = z
  .object({
    id: z.bigint(),
    sellerId: z.string(),
    sku: z.string(),
    gtin: z.string().nullable(),
    month: z.string(),
    kind: z.enum(discrepancyKinds).meta({
      description:
        'balance: beginning and movements do not make the ending; carry-over: the beginning is not the ending of the previous month; others: report and log have different counts.',
    }),
    reportUnits: z.int().meta({ description: 'Units in the report: its ending, its beginning, or its units of the kind.' }),
    expectedUnits: z.int().meta({ description: 'Expected units by its other columns, the previous month, or the log.' }),
    difference: z.int().meta({ description: 'reportUnits minus expectedUnits.' }),
    log: z
      .object({
        verdict: z.enum(['missing', 'extra']).meta({
          description: 'missing: the log lacks units that the report counts; extra: it has units that the report does not count.',
        }),
        certainty: z.enum(['certain', 'likely', 'possible', 'unknown']).meta({
          description:
            'Certainty of the entries. certain: the report counts none of the kind; likely: duplicates that together make the difference; possible: each alone would make it; unknown: no candidate.',
        }),
        entryCount: count,
        entries: z
          .array(
            z.object({
              id: z.string(),
              transactionTime: z.date(),
              changedUnits: z.int(),
              fcName: z.string().nullable(),
              shipmentId: z.string().nullable(),
            }),
          )
          .readonly()
          .meta({ description: 'Entries of the log that may be superfluous, the first 100.' }),
      })
      .nullable(),
    earliestDay: z
      .string()
      .meta({ description: 'The earliest day on which the difference can have arisen, by the calendar of the marketplace.' }),
    unitPrice: z.string().nullable().meta({ description: "The SKU's last known price when this was found or last changed." }),
    value: z.string().nullable().meta({ description: 'The differing units at that price.' }),
    currency: z.string().nullable(),
    state: z.enum(['open', 'resolved']),
    resolution: z
      .enum(['agrees', 'withdrawn'])
      .nullable()
      .meta({ description: 'agrees: both sides agree again; withdrawn: the report no longer lists the SKU.' }),
    firstSeenAt: z.date(),
    changedAt: z.date(),
    resolvedAt: z.date().nullable(),
  })
  .meta({ id: 'InventoryDiscrepancy' })

const claimedUnitsSchema = z.object({
  units: count,
  values: z
    .array(z.object({ amount: z.string(), currency: z.string() }))
    .readonly()
    .meta({ description: 'At the last known prices, one for each currency.' }),
  unpricedUnits: count.meta({ description: 'Units without a value, since no price of their SKUs is known.' }),
})

const movements = {
  beginningQuantity: z.int(),
  endingQuantity: z.int(),
  sold: z.int(),
  returned: z.int(),
  lost: z.int(),
  found: z.int(),
  damaged: z.int(),
  otherAdjustments: z.int(),
}

/** The row of a stored report for one SKU. */
export const stockMonthSchema = z
  .object({
    sellerId: z.string(),
    month: z.string(),
    sku: z.string().meta({ description: 'The GTIN where the report names no SKU.' }),
    gtin: z.string().nullable(),
    ...movements,
    coveredUntil: z.date().nullable().meta({ description: 'Movements before this time are counted.' }),
    changedAt: z.date(),
  })
  .meta({ id: 'StockMonth' })

/** The current report of one GTIN. */
export const gtinReportSchema = z
  .object({
    sellerId: z.string(),
    gtin: z.string(),
    month: z.string(),
    generatedAt: z.date().nullable(),
    coveredUntil: z.date().nullable().meta({ description: 'Movements before this time are counted.' }),
    rows: z.array(
      z.object({
        sku: z.string(),
        gtin: z.string().nullable(),
        ...movements,
        compared: z.boolean().meta({ description: 'The inventory log has been read up to the end of the report.' }),
        differences: z.array(
          z.object({ kind: z.enum(discrepancyKinds), reportUnits: z.int(), expectedUnits: z.int(), difference: z.int() }),
        ),
      }),
    ),
  })
  .meta({ id: 'GtinReport' })

/** A claim with its state. */
export const claimItemSchema = z
  .object({
    id: z.bigint(),
    sellerId: z.string(),
    sku: z.string(),
    gtin: z.string().nullable(),
    month: z.string(),
    kind: z.enum(claimKinds).meta({
      description:
        'lost, damaged: as the report states; returned: came back by the log, not by the report; missing: without any reason; inbound: units of an inbound shipment that were not received.',
    }),
    shipmentId: z.string().nullable().meta({ description: 'The inbound shipment; null: units of the month.' }),
    units: count.meta({ description: 'Units that can be claimed now; units that are found again come off.' }),
    certainty: z.enum(claimCertainties).meta({
      description:
        'reported: the report states the units; compared: report and log were compared; not-compared: the log was not read far enough.',
    }),
    logRead: z.boolean().meta({ description: 'The whole log of the SKU was read after each difference of the month was found.' }),
    unitPrice: z.string().nullable(),
    value: z.string().nullable(),
    currency: z.string().nullable(),
    state: z.enum(claimStates),
    deadline: z.date().nullable().meta({ description: 'When it can no longer be filed; null: not computed yet.' }),
    reference: z.string().nullable().meta({ description: 'The number of the case at the marketplace.' }),
    filedUnits: count.nullable(),
    paidAmount: z.string().nullable().meta({ description: 'What was paid, as a person or reports say.' }),
    reportedAmount: z.string().nullable().meta({ description: 'What rows of settlement reports have paid; null: no row has.' }),
    reportedUnits: z.int().nullable().meta({ description: 'Units that these rows state.' }),
    stateBy: z.string().meta({ description: 'Who set the state; `report`: a report, the log or the deadline.' }),
    stateChangedAt: z.date(),
    firstSeenAt: z.date(),
    changedAt: z.date(),
  })
  .meta({ id: 'ClaimItem' })

/** A row of a settlement report that reimburses units. */
export const claimPaymentSchema = z
  .object({
    sellerId: z.string(),
    lineKey: z.string().meta({ description: 'Report and position of the row.' }),
    claimId: z.bigint().nullable().meta({ description: 'The only claim that the row can pay; null: it is not known which.' }),
    problem: z
      .enum(paymentProblems)
      .nullable()
      .meta({ description: 'Why no claim is known. too-many-units: the row pays more units than any claim has left.' }),
    reimburses: z
      .enum(reimbursedUnits)
      .meta({ description: 'found: units that were found again, so that the payment is taken back.' }),
    sku: z.string().nullable(),
    amount: z.string().meta({ description: 'A decimal; negative: taken back.' }),
    currency: z.string().nullable(),
    units: count.nullable().meta({ description: 'Null: the row states none.' }),
    reportDate: z.string().meta({ description: '`YYYY-MM-DD`.' }),
    postedOn: z.string().nullable(),
    description: z.string().nullable(),
    firstSeenAt: z.date(),
  })
  .meta({ id: 'ClaimPayment' })

/** The evidence of a claim. */
export const claimEvidenceSchema = z
  .object({
    id: z.string(),
    sellerId: z.string(),
    sku: z.string(),
    gtin: z.string().nullable(),
    month: z.string(),
    kind: z.string(),
    units: count,
    certainty: z.string(),
    value: z.string().nullable(),
    currency: z.string().nullable(),
    state: z.string(),
    deadline: z.string().nullable(),
    reference: z.string().nullable(),
    shipmentId: z.string().nullable(),
    centers: z.array(z.string()).readonly().meta({ description: 'Fulfilment centers of the entries of the kind.' }),
    arithmetic: z.array(z.string()).readonly().meta({ description: 'The arithmetic in words, step by step.' }),
    reportRows: z
      .array(
        z.object({
          month: z.string(),
          fileName: z.string().nullable(),
          generatedAt: z.string().nullable(),
          columns: z.record(z.string(), z.string()).readonly().meta({ description: 'The row as it came, by its headers.' }),
        }),
      )
      .readonly(),
    logEntries: z
      .array(
        z.object({
          id: z.string(),
          transactionTime: z.string(),
          changedUnits: z.int(),
          movement: z.string().meta({ description: 'The column of the report in which it belongs.' }),
          fcName: z.string().nullable(),
          shipmentId: z.string().nullable(),
          type: z.string().nullable(),
          reasonCode: z.string().nullable(),
          reasonDescription: z.string().nullable(),
          location: z.string().nullable(),
        }),
      )
      .readonly(),
    payments: z
      .array(
        z.object({
          lineKey: z.string().meta({ description: 'Report and position of the row.' }),
          reportDate: z.string(),
          postedOn: z.string().nullable(),
          description: z.string().nullable(),
          units: z.int().nullable(),
          amount: z.string(),
          currency: z.string().nullable(),
        }),
      )
      .readonly()
      .meta({ description: 'Rows of settlement reports that have paid the claim.' }),
    omittedEntries: count.meta({ description: 'Entries that are left out, because the month has too many.' }),
  })
  .meta({ id: 'ClaimEvidence' })

/** The possible claim of a seller for a month. */
export const claimSchema = z
  .object({
    sellerId: z.string(),
    month: z.string(),
    skus: count.meta({ description: "SKUs of the month's report." }),
    skusCompared: count.meta({ description: 'SKUs whose log has been read far enough to be compared.' }),
    lost: claimedUnitsSchema.meta({ description: 'As the report states.' }),
    damaged: claimedUnitsSchema.meta({ description: 'As the report states.' }),
    found: claimedUnitsSchema.meta({ description: 'As the report states.' }),
    unexplained: claimedUnitsSchema.meta({ description: 'Missing units without a movement that explains them.' }),
    uncertain: claimedUnitsSchema.meta({
      description:
        'Units that may be missing, in no sum: the log may contain a duplicate, another month restores them, or the report has no row.',
    }),
    total: claimedUnitsSchema.meta({ description: 'Lost, damaged and unexplained.' }),
    net: claimedUnitsSchema.meta({ description: 'The same, minus found units of SKUs with lost units.' }),
  })
  .meta({ id: 'InventoryClaim' })

/** The main numbers. */
export const overviewSchema = z
  .object({
    orders: z.object({
      open: count,
      late: count,
      toAcknowledge: count.meta({ description: 'Open, and some units are not acknowledged.' }),
      acknowledgeOverdue: count.meta({ description: 'Those of `toAcknowledge` whose deadline has passed.' }),
      acknowledgeSoon: count.meta({ description: 'Those of `toAcknowledge` whose deadline is within an hour.' }),
      toShip: count.meta({ description: 'Open, and everything is acknowledged.' }),
      shipSoon: count.meta({ description: 'Open, and to be shipped within 24 hours.' }),
      autoCancelSoon: count.meta({
        description: 'Open, and cancelled by the marketplace within 24 hours unless they are shipped.',
      }),
      dueBy: count
        .nullable()
        .meta({ description: 'Open, and to be shipped before `dueBy`, also late ones; null without `dueBy`.' }),
    }),
    returns: z.object({
      late: count.meta({ description: 'Arrived, and past the deadline of their refund.' }),
      refundSoon: count.meta({ description: 'Arrived, and to be refunded within 12 hours.' }),
    }),
    commands: z.partialRecord(commandStateSchema, count).meta({ description: 'Settled ones count for 24 hours.' }),
    waitingEvents: count,
    quarantined: count,
    discrepancies: count.meta({ description: 'Open discrepancies of inventory reports.' }),
    alarms: count,
    proposals: count.meta({ description: 'Proposed events that wait for a decision.' }),
    needsPerson: z
      .object({
        commandsHeld: count,
        commandsRejected: count,
        commandsWaiting: count,
        eventsRejected: count,
        eventsWaiting: count.meta({ description: 'Not decided within 15 minutes.' }),
        sellersStopped: count,
      })
      .meta({ description: 'Work that waits for an operator; rejections until their alarm is closed.' }),
  })
  .meta({ id: 'Overview' })

/** Work of one hour. */
export const hourOfWorkSchema = z
  .object({
    from: z.date(),
    orderedFrom: z.date().meta({ description: "The hour by the marketplace's clock, for the orders." }),
    ordered: count.meta({ description: "Orders by their date, by the marketplace's clock." }),
    confirmed: count.meta({ description: 'Commands that were confirmed.' }),
    rejected: count.meta({ description: 'Commands that were rejected.' }),
  })
  .meta({ id: 'HourOfWork' })

/** Orders of a period by their state. */
export const orderStatesSchema = z
  .object({
    from: z.date().meta({ description: "Orders from this time on, by the marketplace's clock." }),
    ordered: count,
    open: count,
    shipped: count.meta({ description: 'Nothing is open, and some units were shipped.' }),
    cancelled: count.meta({ description: 'Nothing is open, and no unit was shipped.' }),
    refunded: count.meta({ description: 'Some units were refunded; they count as shipped too.' }),
  })
  .meta({ id: 'OrderStates' })

/** Units to be taken from the shelf. */
export const pickedSkuSchema = z
  .object({
    sellerId: z.string(),
    sku: z.string().nullable(),
    productName: z.string().nullable(),
    units: count.meta({
      description: 'Units that are neither shipped nor cancelled, nor part of a shipment or cancellation that is being sent.',
    }),
    orders: count.meta({ description: 'Orders that need them.' }),
    shipBy: z.date().nullable().meta({ description: 'The earliest time by which one of them must be shipped.' }),
  })
  .meta({ id: 'PickedSku' })

/** The remaining requests of a rate limit. */
export const budgetSchema = z
  .object({
    sellerId: z.string(),
    operation: z.string(),
    scope: z
      .string()
      .nullable()
      .meta({ description: 'Part of the operation with its own limit, such as a month; null: the whole operation.' }),
    available: z.number().meta({ description: 'Requests that could be sent now.' }),
    perMinute: z.number().meta({ description: 'Requests per minute in the long run, as learned so far.' }),
    blockedUntil: z
      .date()
      .nullable()
      .meta({ description: 'When the wait that the marketplace requested ends; null: it requested none.' }),
  })
  .meta({ id: 'Budget' })

/** The remaining requests of the rate limits of an operation. */
export const operationBudgetSchema = z
  .object({
    operation: z.string(),
    limits: count.meta({ description: 'Limits of sellers, or of parts of the operation with their own limit.' }),
    usedUp: count.meta({ description: 'Limits that allow no request now.' }),
    least: budgetSchema.meta({ description: 'The limit with the fewest remaining requests.' }),
  })
  .meta({ id: 'OperationBudget' })

/** Health as a list of checks. */
export const healthSchema = z
  .object({
    status: z.enum(['ok', 'failing']),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string().optional() })),
  })
  .meta({ id: 'Health' })
