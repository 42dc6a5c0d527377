import { z } from 'zod'
import { estimateBases } from '../sync/backfill-pages.ts'

/** Hours that a forecast looks ahead at most: a week. */
export const maxForecastHours = 168

const [text, count, rate, texts] = [z.string(), z.int(), z.number(), z.array(z.string()).readonly()]
const buildList = <Item extends z.ZodType>(item: Item, description: string) => z.array(item).readonly().meta({ description })

/** The answer of `GET /v1/forecast`; `time`: how its times are written, or read. */
export const forecastAnswer = <Time extends z.ZodType<Date>>(time: Time) => {
  const timeOrNull = time.nullable()
  const command = { commandId: text, sellerId: text, purchaseOrderId: text.nullable(), kind: text, lines: texts }
  const late = z.object({ ...command, actBy: time, expectedAt: timeOrNull }).meta({
    id: 'ForecastCommand',
    description:
      '`actBy`: by when the marketplace wants it, on its clock. `expectedAt`: when its request is sent; null: not within the time.',
  })
  const asked = z.object({
    ...{ ...command, actBy: timeOrNull, operation: text.nullable(), position: count.nullable(), expectedAt: timeOrNull },
  })
  const backfill = z.object({
    ...{ sellerId: text, resource: text, stream: text, windowsLeft: count, pages: count, basis: z.enum(estimateBases) },
    ...{ operation: text, endsAt: timeOrNull },
  })
  const operation = z.object({
    ...{ sellerId: text, operation: text, tokens: count, perMs: rate, perMinute: rate, pollsPerMinute: rate, open: count },
    ...{ blockedUntil: timeOrNull, lastAt: timeOrNull, calls: count, allowed: count, share: rate },
  })
  const waiting = z.object({ sellerId: text, purchaseOrderId: text, wants: z.enum(['acknowledge', 'ship']), by: time })
  const answer = z.object({
    ...{ from: time, until: time, sellerIds: texts },
    assumptions: buildList(text, 'What was taken for granted.'),
    backfills: buildList(
      backfill,
      '`pages` that are left are an estimate by `basis`: the average of the windows that were read, the count of the current one, or nothing: one page a ' +
        'window. `endsAt`: null: not within the time.',
    ),
    operations: buildList(
      operation,
      'The most used first. The limit is `tokens` calls in `perMs` ms; as reported or learned, `perMinute` calls are let through, of which polls take ' +
        '`pollsPerMinute`, and none before `blockedUntil`. `open`: calls of open commands, and pages of backfills that are left; the last one is sent at ' +
        '`lastAt` (null: none is open, or never). Within the time, `calls` of `allowed` are sent, which is `share`.',
    ),
    commands: z.object({
      ...{ open: count, sent: count, unsent: count, late: count },
      lateOnes: buildList(
        late,
        'That are sent after the marketplace wants them, or have not been until it does: the first 200, by their deadlines.',
      ),
    }),
    command: asked.nullable().meta({
      description:
        'Of `commandId`: its `position` among the calls of `operation`, and when it is sent, be it after the time. Null: nothing is sent for it.',
    }),
    shipBy: z.object({
      atRisk: buildList(late, 'Shipments that are queued and sent late; the first 200.'),
      waitingForErp: buildList(
        waiting,
        'Orders whose deadline comes within the time and of which the ERP has said nothing; the first 200.',
      ),
      waitingForErpCount: count,
    }),
  })
  return answer.meta({ id: 'Forecast' })
}

/** See {@link forecastAnswer}. */
export type Forecast = z.output<ReturnType<typeof forecastAnswer<z.ZodDate>>>
