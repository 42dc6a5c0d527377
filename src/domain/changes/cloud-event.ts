import type { Change } from './change.ts'

/**
 * A change as a CloudEvent 1.0 in JSON. `source` and `id` identify it permanently; `sequence` is its position in the feed. Ids are optional extension attributes.
 */
export interface ChangeEvent {
  readonly specversion: '1.0'
  /** The sequence number. */
  readonly id: string
  /** `/tallyman/` and the seller, percent-encoded. */
  readonly source: string
  readonly type: string
  /** The purchase order, otherwise the return, otherwise the command. */
  readonly subject?: string
  readonly time: string
  readonly datacontenttype: 'application/json'
  readonly sequence: string
  readonly sellerid?: string
  readonly purchaseorderid?: string
  readonly linenumber?: string
  readonly returnorderid?: string
  readonly commandid?: string
  readonly data: unknown
}

/** The CloudEvent of a change, for the feed as `application/cloudevents-batch+json` and for webhooks. */
export const buildChangeEvent = (change: Change): ChangeEvent => {
  const { purchaseOrderId, lineNumber, returnOrderId, commandId } = change
  const subject = purchaseOrderId ?? returnOrderId ?? commandId
  const id = change.seq.toString()
  return {
    specversion: '1.0',
    id,
    source: `/tallyman/${encodeURIComponent(change.sellerId)}`,
    type: change.type,
    ...(subject === null ? {} : { subject }),
    time: change.occurredAt.toISOString(),
    datacontenttype: 'application/json',
    sequence: id,
    ...(change.sellerId === '' ? {} : { sellerid: change.sellerId }),
    ...(purchaseOrderId === null ? {} : { purchaseorderid: purchaseOrderId }),
    ...(lineNumber === null ? {} : { linenumber: lineNumber }),
    ...(returnOrderId === null ? {} : { returnorderid: returnOrderId }),
    ...(commandId === null ? {} : { commandid: commandId }),
    data: change.data,
  }
}
