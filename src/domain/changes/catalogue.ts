import type { z } from 'zod'
import {
  alarm,
  channel,
  channelName,
  difference,
  entry,
  found,
  header,
  line,
  node,
  place,
  report,
  returnLine,
  settings,
  shippedLine,
  target,
  targetName,
  terms,
} from './examples.ts'
import { type ChangeKind, kind } from './kind.ts'
import { settlementChanges } from './settlements.ts'
import * as shapes from './shapes.ts'
import { stockChanges } from './stock.ts'

const ofOrder = { ids: ['purchaseOrderId'] } as const
const ofReturn = { ids: ['returnOrderId'] } as const
const ofCommand = { ids: ['commandId'], maybe: ['purchaseOrderId'] } as const

const command = { kind: 'ship', lines: [{ lineNumber: '1', quantity: 2 }] } as const
const commandInState = (reason: string) => ({ ...command, reason })

/**
 * Every type of change, with its meaning and the schema of its data. The types of `Transaction.record` enforce it. `docs/changes.md`, the OpenAPI document and
 * the exported types are generated from it.
 */
export const changeTypes = {
  'order.seen': kind(
    'A purchase order was stored for the first time.',
    shapes.orderSeenSchema,
    {
      customerOrderId: header.customerOrderId,
      orderDate: header.orderDate,
      shipNodeType: header.shipNodeType,
      lines: [{ lineNumber: '1', sku: 'MUG-BLUE', ordered: 2 }],
    },
    ofOrder,
  ),
  'order.changed': kind(
    'The header of an order changed: dates, method, total, or data of its buyer.',
    shapes.orderChangedSchema,
    {
      fields: ['estimatedShipDate'],
      before: header,
      after: { ...header, estimatedShipDate: '2026-03-04T07:00:00.000Z' },
    },
    ofOrder,
  ),
  'order_line.changed': kind(
    'The units, statuses or refunds of an order line changed.',
    shapes.orderLineChangedSchema,
    { sku: 'MUG-BLUE', before: line, after: shippedLine },
    { ids: ['purchaseOrderId', 'lineNumber'] },
  ),
  'order.missing': kind('The marketplace no longer has an order that is stored.', shapes.emptySchema, {}, ofOrder),
  'order.erased': kind(
    'The buyer of an order was erased. Readers must remove their copies of the buyer.',
    shapes.erasedSchema,
    { customerOrderId: header.customerOrderId },
    ofOrder,
  ),
  'return.seen': kind(
    'A return was stored for the first time.',
    shapes.returnSeenSchema,
    {
      customerOrderId: header.customerOrderId,
      returnType: 'ORIGINAL',
      totalRefundAmount: '13.99',
      currency: 'USD',
      lines: [
        {
          returnOrderLineNumber: 1,
          purchaseOrderId: '1796277083022',
          purchaseOrderLineNumber: '1',
          sku: 'MUG-BLUE',
          ...returnLine,
        },
      ],
    },
    ofReturn,
  ),
  'return_line.changed': kind(
    'The state, refund or tracking of a return line changed.',
    shapes.returnLineChangedSchema,
    { sku: 'MUG-BLUE', before: returnLine, after: { ...returnLine, status: 'DELIVERED' } },
    { ids: ['returnOrderId', 'lineNumber'], maybe: ['purchaseOrderId'] },
  ),
  'return.erased': kind(
    'The buyer of a return was erased. Readers must remove their copies of the buyer.',
    shapes.erasedSchema,
    { customerOrderId: header.customerOrderId },
    ofReturn,
  ),
  'command.pending': kind(
    'A command was accepted, or an operator has retried it.',
    shapes.commandSchema,
    { ...command, event: { source: '/erp/wms', id: '2026-000123' } },
    ofCommand,
  ),
  'command.sending': kind(
    'The request of a command may be sent from now on.',
    shapes.commandSchema,
    commandInState('sending'),
    ofCommand,
  ),
  'command.verifying': kind(
    'The outcome of a command is unknown; the order is being read back.',
    shapes.commandSchema,
    commandInState('no answer within 30 s'),
    ofCommand,
  ),
  'command.held': kind(
    'An operator must decide on a command.',
    shapes.commandSchema,
    commandInState('it was partly applied'),
    ofCommand,
  ),
  'command.confirmed': kind(
    'A command was applied. Final.',
    shapes.commandSchema,
    commandInState('every line shows the requested effect'),
    ofCommand,
  ),
  'command.rejected': kind(
    'The marketplace, the rules or an operator refused a command; its units are available again. Final.',
    shapes.commandSchema,
    commandInState('the marketplace refused it: the order is cancelled'),
    ofCommand,
  ),
  'command.predicted': kind(
    'The seller is in shadow mode: the request of a command is ready, and nothing is sent. Its units are reserved.',
    shapes.commandSchema,
    commandInState('shadow mode: it would have been sent now; nothing was sent'),
    ofCommand,
  ),
  'command.withdrawn': kind(
    'A command of a seller in shadow mode ended because the seller went live; its units are available again. Nothing was sent. Final.',
    shapes.commandSchema,
    commandInState('the seller went live'),
    ofCommand,
  ),
  'event.rejected': kind(
    'An accepted ERP event could not be executed: it is invalid, has waited too long, or an operator rejected it.',
    shapes.eventRejectedSchema,
    {
      source: '/erp/wms',
      id: '2026-000124',
      type: 'erp.shipment.dispatched',
      code: 'invalid-event',
      errors: [{ path: 'parcels[0].lines[0].quantity', message: 'is 3, but 2 units can be shipped' }],
    },
    { maybe: ['purchaseOrderId'] },
  ),
  'alarm.raised': kind(
    'An alarm opened. It is reported within a minute. Its `count` may change later without a report.',
    shapes.alarmRaisedSchema,
    alarm,
  ),
  'alarm.silenced': kind('An operator silenced an open alarm until a time; it stays open.', shapes.alarmSilencedSchema, {
    ...alarm,
    until: '2026-03-02T12:00:00.000Z',
    by: 'kim',
  }),
  'alarm.resolved': kind('The cause of an alarm ended, or an operator resolved it.', shapes.alarmResolvedSchema, {
    ...alarm,
    by: null,
  }),
  'seller.stopped': kind('The marketplace refuses the credentials of a seller: it is stopped.', shapes.sellerStoppedSchema, {
    reason: 'the marketplace refused the credentials three times',
  }),
  'seller.paused': kind('An operator paused a seller: its syncs and commands are stopped.', shapes.sellerPausedSchema, {
    actor: 'operator',
    reason: 'stock-taking',
  }),
  'seller.resumed': kind('A stopped or paused seller runs again.', shapes.sellerResumedSchema, { by: 'probe' }),
  'seller.mode_changed': kind('An operator put a seller in shadow mode, or made it live.', shapes.sellerModeSchema, {
    mode: 'live',
    actor: 'Ada',
    reason: 'a week without differences',
  }),
  'seller.removed': kind('An operator removed a seller that was no longer configured.', shapes.sellerRemovedSchema, {
    actor: 'operator',
    reason: 'a mistyped id',
    deleted: true,
  }),
  'seller.returned': kind('A removed, hidden seller is in the settings again.', shapes.sellerReturnedSchema, {
    by: 'settings',
  }),
  'seller.enrolment_changed': kind(
    "A seller's enrolment in a programme of the marketplace began or ended.",
    shapes.enrolmentChangedSchema,
    { resource: 'sales-channels', enrolled: false },
  ),
  'shipping_settings.created': kind(
    'Account-level shipping settings were read for the first time.',
    shapes.settingsCreatedSchema,
    settings,
  ),
  'shipping_settings.changed': kind('Account-level shipping settings changed.', shapes.settingsChangedSchema, {
    before: settings,
    after: { ...settings, shippingPriority: 'SPEED' },
  }),
  'shipping_settings.missing': kind('The marketplace has no shipping settings.', shapes.emptySchema, {}),
  'campaign.added': kind('A watched campaign was read for the first time.', shapes.campaignAddedSchema, {
    campaignId: '9001',
    status: 'RUNNING',
    ...terms,
  }),
  'campaign.changed': kind('The name, dates, budgets or target of a campaign changed.', shapes.campaignChangedSchema, {
    campaignId: '9001',
    before: terms,
    after: { ...terms, dailyBudget: '120.00' },
  }),
  'campaign.status_changed': kind('The status of a campaign changed.', shapes.campaignStatusChangedSchema, {
    campaignId: '9001',
    from: 'SCHEDULED',
    to: 'RUNNING',
    legal: true,
    missed: null,
  }),
  'campaign.missing': kind('The marketplace no longer has a watched campaign.', shapes.campaignSchema, { campaignId: '9001' }),
  'campaign.found': kind('A missing campaign exists again.', shapes.campaignSchema, { campaignId: '9001' }),
  'taxonomy.loaded': kind('The advertising taxonomy of a seller was read completely for the first time.', shapes.loadedSchema, {
    count: 1203,
    parts: { '1': 24, '2': 187, '3': 992 },
  }),
  'taxonomy_node.added': kind('A node of the taxonomy appeared, or appeared again.', shapes.taxonomyNodeSchema, {
    ...place,
    before: null,
    after: node,
  }),
  'taxonomy_node.changed': kind('A node of the taxonomy changed.', shapes.taxonomyNodeSchema, {
    ...place,
    before: node,
    after: { ...node, itemCount: 815 },
  }),
  'taxonomy_node.removed': kind('A node of the taxonomy is no longer listed.', shapes.taxonomyNodeSchema, {
    ...place,
    before: node,
    after: null,
  }),
  'target.loaded': kind(
    'The contextual targets, or the behavioral audiences, of a seller were read completely for the first time.',
    shapes.targetsLoadedSchema,
    { tactic: 'contextual', count: 420, parts: {} },
  ),
  'target.added': kind('A target for advertising appeared, or appeared again.', shapes.targetSchema, {
    ...targetName,
    before: null,
    after: target,
  }),
  'target.changed': kind('A target for advertising changed.', shapes.targetSchema, {
    ...targetName,
    before: target,
    after: { ...target, isDisabled: true },
  }),
  'target.removed': kind('A target for advertising is no longer listed.', shapes.targetSchema, {
    ...targetName,
    before: target,
    after: null,
  }),
  'sales_channel.loaded': kind('The sales channels of a seller were read completely for the first time.', shapes.loadedSchema, {
    count: 3,
    parts: {},
  }),
  'sales_channel.added': kind('A sales channel appeared, or appeared again.', shapes.salesChannelSchema, {
    ...channelName,
    before: null,
    after: channel,
  }),
  'sales_channel.changed': kind('A sales channel changed.', shapes.salesChannelSchema, {
    ...channelName,
    before: channel,
    after: { ...channel, active: false },
  }),
  'sales_channel.removed': kind('A sales channel is no longer listed.', shapes.salesChannelSchema, {
    ...channelName,
    before: channel,
    after: null,
  }),
  ...settlementChanges,
  ...stockChanges,
  'replenishment.changed': kind(
    'The recommended quantities of a SKU changed, began or ended.',
    shapes.replenishmentChangedSchema,
    {
      sku: 'MUG-BLUE',
      before: { suggestedQuantity: 40, maxQuantity: 120 },
      after: { suggestedQuantity: 60, maxQuantity: 120 },
    },
  ),
  'inventory_log.entries_added': kind('Entries of the inventory log of a SKU were stored.', shapes.entriesAddedSchema, {
    sku: 'MUG-BLUE',
    gtin: '00012345678905',
    count: 4,
    netUnits: -7,
    earliest: '2026-03-02T10:00:00.000Z',
    latest: '2026-03-02T11:30:00.000Z',
  }),
  'inventory_log.entry_changed': kind('An entry of the inventory log differs from the stored one.', shapes.entryChangedSchema, {
    sku: 'MUG-BLUE',
    gtin: '00012345678905',
    entryId: '77001',
    before: entry,
    after: { ...entry, changedUnits: -3 },
  }),
  'inventory_log.entry_gone': kind('The inventory log no longer has an entry.', shapes.entryGoneSchema, {
    sku: 'MUG-BLUE',
    entryId: '77001',
    transactionTime: '2026-03-02T10:00:00.000Z',
    changedUnits: -2,
  }),
  'inventory_log.unknown_reason': kind(
    'The inventory log has an unknown reason; define its kind in `LOG_REASONS`.',
    shapes.unknownReasonSchema,
    { reason: '999: Recount', countsAs: 'other' },
  ),
  'reconciliation_report.imported': kind('An inventory report was imported.', shapes.reportImportedSchema, {
    reportId: '31',
    month: '2026-02',
    generatedAt: '2026-03-02T06:00:00.000Z',
    coveredUntil: '2026-03-01T08:00:00.000Z',
    lines: 1522,
    rows: 1520,
    quarantined: 0,
    skipped: 2,
    changed: 1520,
    gone: 0,
  }),
  'reconciliation_row.changed': kind(
    'The numbers of a SKU in the report of a past month changed.',
    shapes.reportRowChangedSchema,
    {
      sku: 'MUG-BLUE',
      gtin: '00012345678905',
      month: '2026-02',
      before: report,
      after: { ...report, lost: 1, endingQuantity: 96 },
    },
  ),
  'reconciliation_row.gone': kind('The report of a month no longer has the row of a SKU.', shapes.reportRowGoneSchema, {
    sku: 'MUG-BLUE',
    gtin: '00012345678905',
    month: '2026-02',
  }),
  'inventory_discrepancy.found': kind(
    'A difference between an inventory report and the expected units was found.',
    shapes.discrepancySchema,
    found,
  ),
  'inventory_discrepancy.changed': kind('The numbers of an open difference changed.', shapes.discrepancySchema, {
    ...found,
    reportUnits: 2,
    difference: -1,
    value: '13.99',
  }),
  'inventory_discrepancy.resolved': kind('A difference no longer exists.', shapes.discrepancyResolvedSchema, {
    ...difference,
    resolution: 'agrees',
  }),
} as const satisfies Readonly<Record<string, ChangeKind>>

/** A type of change. */
export type ChangeType = keyof typeof changeTypes

/** The data of a type of change, as it is recorded. */
export type ChangeData<Type extends ChangeType> = z.input<(typeof changeTypes)[Type]['data']>

/** Whether a text is a type of the catalogue. */
export const isChangeType = (text: string): text is ChangeType => Object.hasOwn(changeTypes, text)

/** Every type of change, in the order of the catalogue. */
export const allChangeTypes: readonly ChangeType[] = Object.keys(changeTypes).filter(isChangeType)

/** Type and data of a change. */
export type ChangeContent<Type extends ChangeType = ChangeType> = {
  readonly [Each in Type]: { readonly type: Each; readonly data: ChangeData<Each> }
}[Type]

/** A change to be recorded: a type of the catalogue, with data of that type. */
export type ChangeRecord<Type extends ChangeType = ChangeType> = {
  readonly [Each in Type]: {
    readonly sellerId: string
    readonly type: Each
    readonly purchaseOrderId?: string | undefined
    readonly lineNumber?: string | undefined
    readonly returnOrderId?: string | undefined
    readonly commandId?: string | undefined
    readonly data: ChangeData<Each>
  }
}[Type]
