import { z } from 'zod'

// Parts of the schemas of changes.

/** Terms of the marketplace, and decimals. */
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

/** Members of a change: the stored state before and after it. */
export const beforeAndAfter = <State extends z.ZodType>(state: State) => ({ before: state, after: state })

/** A record of a complete list: `before` is null for an added record, `after` for a removed one. */
export const listed = <Identity extends z.ZodRawShape, State extends z.ZodType>(identity: Identity, state: State) =>
  z.object({ ...identity, ...beforeAndAfter(state.nullable()) })
