import type { z } from 'zod'

/** Ids of a change in addition to its data. */
export type ChangeId = 'purchaseOrderId' | 'lineNumber' | 'returnOrderId' | 'commandId'

/** One type of change. */
export interface ChangeKind<Data extends z.ZodType = z.ZodType> {
  /** When it is recorded, in one sentence. */
  readonly meaning: string
  /** Its ids in addition to its data; those in `maybe` may be null. */
  readonly ids: readonly ChangeId[]
  readonly maybe: readonly ChangeId[]
  readonly data: Data
  /** Data as an example. */
  readonly example: z.input<Data>
}

/** Creates a type of change. The example must match the schema of the data. */
export const kind = <Data extends z.ZodType>(
  meaning: string,
  data: Data,
  example: z.input<NoInfer<Data>>,
  { ids = [], maybe = [] }: { readonly ids?: readonly ChangeId[]; readonly maybe?: readonly ChangeId[] } = {},
): ChangeKind<Data> => ({ meaning, ids, maybe, data, example })
