import { z } from 'zod'
import { identifier } from './lenient.ts'

/** Requests for reports on the wire, as the live service publishes them; the specification does not have them. Loose: unknown fields are kept. */

/** A request, as accepted or as read again. */
export const wireReportRequest = z.looseObject({
  requestId: identifier,
  requestStatus: z.string().min(1),
})

/** Where the file of a request is. */
export const wireReportFile = z.looseObject({ downloadURL: z.string().min(1) })
