import type pg from 'pg'
import { listUnits, parseCommand } from '../../src/domain/commands/command.ts'
import { refundTotal } from '../../src/domain/refunds/refunds.ts'
import type { TrueEffect, World } from './marketplace.ts'

/** A command as the database tells it at the end. */
export interface EndedCommand {
  readonly id: string
  readonly kind: string
  readonly state: string
  readonly reason: string | null
  readonly subject: string
  readonly purchaseOrderId: string
  readonly event: string | null
  readonly payload: unknown
  /** What a person has left to be sent, after decisions line by line; null: all of it. */
  readonly open: unknown
  readonly parted: boolean
  readonly decided: boolean
  readonly alarmed: boolean
  readonly createdAtMs: number
  readonly attempts: readonly { readonly correlationId: string; readonly outcome: string | null }[]
}

interface EndedEvent {
  readonly id: string
  readonly status: string
  readonly explained: boolean
  /** Rejected because the marketplace knows no such order, or no such return. */
  readonly orphaned: boolean
  readonly alarmed: boolean
  readonly commands: number
}

/** What the database tells at the end. */
export interface Record {
  readonly commands: readonly EndedCommand[]
  readonly events: readonly EndedEvent[]
}

/** An event that the ERP has posted. */
export interface Posted {
  readonly id: string
  readonly atMs: number
  /** We said that it is safe with us. */
  readonly accepted: boolean
  /** What it names. */
  readonly purchaseOrderId: string | null
  readonly returnOrderId: string | null
  /** The tracking numbers, of a correction. */
  readonly correction: { readonly wrong: string; readonly right: string } | null
}

/** Reads what the database tells of a seller and a source. */
export const readRecord = async (client: pg.ClientBase, sellerId: string, source: string): Promise<Record> => {
  const { rows: commands } = await client.query<EndedCommand>(
    `SELECT c.id, c.kind, c.state, c.reason, c.subject, c.purchase_order_id AS "purchaseOrderId", c.event_id AS event, c.payload, c.parts -> 'open' AS open, c.parts IS NOT NULL AS parted,
       extract(epoch FROM c.created_at)::float8 * 1000 AS "createdAtMs",
       EXISTS (SELECT 1 FROM tallyman.command_decisions d WHERE d.command_id = c.id) AS decided,
       EXISTS (SELECT 1 FROM tallyman.alarms a WHERE a.seller_id = c.seller_id AND a.subject = c.id AND a.resolved_at IS NULL) AS alarmed,
       coalesce((SELECT json_agg(json_build_object('correlationId', a.correlation_id, 'outcome', a.outcome) ORDER BY a.attempt)
         FROM tallyman.command_attempts a WHERE a.command_id = c.id), '[]') AS attempts
     FROM tallyman.commands c WHERE c.seller_id = $1 ORDER BY c.sequence`,
    [sellerId],
  )
  const { rows: events } = await client.query<EndedEvent>(
    `SELECT e.id, e.status, e.problem IS NOT NULL AS explained,
       coalesce(e.problem ->> 'errors' LIKE '%which the marketplace does not know as a%', false) AS orphaned,
       EXISTS (SELECT 1 FROM tallyman.alarms a WHERE a.seller_id = $1 AND a.subject = e.source || ' ' || e.id AND a.resolved_at IS NULL) AS alarmed,
       (SELECT count(*)::int FROM tallyman.commands c WHERE c.event_source = e.source AND c.event_id = e.id) AS commands
     FROM tallyman.erp_event e WHERE e.source = $2 ORDER BY e.sequence`,
    [sellerId, source],
  )
  return { commands, events }
}

/** What a command asks of a line of its order. */
interface AskedLine {
  readonly lineNumber: string
  readonly units: number
  /** Null: it does not say; the marketplace works out the money. */
  readonly cents: number | null
}

/** What a command asks of each line of its order. */
export const parseAsked = ({ kind, payload }: EndedCommand): readonly AskedLine[] => {
  const content = parseCommand(kind, payload)
  return listUnits(content.payload).map(({ lineNumber, quantity }) => {
    const charges =
      content.kind === 'refund'
        ? content.payload.lines.filter((line) => line.lineNumber === lineNumber).flatMap((line) => line.charges)
        : []
    if (content.kind === 'refund-return') return { lineNumber, units: quantity, cents: null }
    return { lineNumber, units: quantity, cents: Math.round(Number(refundTotal(charges)) * 100) }
  })
}

/** What a command truly did. */
export const ours = (world: World, command: EndedCommand): readonly TrueEffect[] =>
  world.effects.filter((effect) => effect.commandId === command.id)

/** Units and money of a line. */
export const sumAll = (effects: readonly TrueEffect[], lineNumber: string): { units: number; cents: number } =>
  effects
    .filter((effect) => effect.lineNumber === lineNumber)
    .reduce((sum, { units, cents }) => ({ units: sum.units + units, cents: sum.cents + cents }), { units: 0, cents: 0 })
