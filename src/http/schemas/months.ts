import { z } from 'zod'

/** A month of a report in a query. */
export const monthSchema = z
  .string()
  .regex(/^20\d{2}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-03')
  .meta({ description: 'Month of the report, by the calendar of the marketplace.' })
