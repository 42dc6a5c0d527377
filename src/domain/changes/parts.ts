import { z } from 'zod'

// What the data of changes is put together from.

/** Open words of the marketplace, and decimals. */
export const text = z.string()
/** A text that may be missing. */
export const maybe = text.nullable()
/** A number of things. */
export const count = z.int().nonnegative()
/** ISO 8601, in UTC. */
export const time = z.string().meta({ format: 'date-time' })
/** A day. */
export const day = z.string().meta({ description: '`YYYY-MM-DD`.' })
/** A month. */
export const month = z.string().meta({ description: '`YYYY-MM`, by the calendar of the marketplace.' })
/** Items in order. */
export const list = <Item extends z.ZodType>(item: Item) => z.array(item).readonly()

/** Members of a change: what was stored before, and what is stored now. */
export const beforeAndAfter = <State extends z.ZodType>(state: State) => ({ before: state, after: state })

/** What records of complete lists say of themselves: `before` is null of an added record, `after` of a removed one. */
export const listed = <Identity extends z.ZodRawShape, State extends z.ZodType>(identity: Identity, state: State) =>
  z.object({ ...identity, ...beforeAndAfter(state.nullable()) })
