import { z } from 'zod'
import { operationNames } from '../calls/registry.ts'
import type { DueEvent } from '../store/due-events.ts'
import type { World } from '../world.ts'
import { duration, Misused } from './control-request.ts'

const operationName = z.enum([...operationNames])

/** When that happens which a control request asks for; left out: now. */
export const whenSchema = z
  .strictObject({
    /** A moment of the virtual clock. */
    at: z.iso.datetime({ offset: true }).optional(),
    /** So long from now, on the virtual clock. */
    in: duration.optional(),
    /** Right before a call of this operation takes effect, or right after it did and before it is answered. */
    before: operationName.optional(),
    after: operationName.optional(),
    /** Which call it is, counted from now. */
    call: z.number().int().min(1).max(1_000_000).optional(),
  })
  .superRefine(({ at, in: inMs, before, after, call }, context) => {
    if ([at, inMs, before, after].filter((one) => one !== undefined).length !== 1)
      context.addIssue({ code: 'custom', message: 'one of at, in, before, after must be given' })
    if (call !== undefined && (before ?? after) === undefined)
      context.addIssue({ code: 'custom', path: ['call'], message: 'counts calls of before or after' })
  })
export type When = z.infer<typeof whenSchema>

/**
 * Puts events off until their moment. Calls of operations that name no order (lists) count for every order of the seller; calls that
 * are not let in count for none. Throws `Misused` for a moment that is past.
 */
export const putOff = (
  world: World,
  when: When,
  order: { sellerId: string; purchaseOrderId: string },
  events: readonly DueEvent[],
): void => {
  const { before, after, call = 1 } = when
  const operation = before ?? after
  if (operation !== undefined) {
    const { sellerId, purchaseOrderId } = order
    const on = { sellerId, purchaseOrderId, operation, side: before === undefined ? 'after' : 'before', call } as const
    world.database.transaction(() => {
      for (const event of events) world.triggers.set(on, event)
    })
    return
  }
  const now = world.clock.now()
  const at = when.at === undefined ? now + (when.in ?? 0) : Date.parse(when.at)
  if (at < now) throw new Misused(400, 'when.at: must not be past')
  world.database.transaction(() => {
    for (const event of events) world.dueEvents.schedule(at, event)
  })
}
