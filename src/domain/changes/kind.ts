import type { z } from 'zod'

/** Ids that a change carries beside its data. */
export type ChangeId = 'purchaseOrderId' | 'lineNumber' | 'returnOrderId' | 'commandId'

/** One type of change. */
export interface ChangeKind<Data extends z.ZodType = z.ZodType> {
  /** When it is recorded, in one sentence. */
  readonly meaning: string
  /** Ids that it carries beside its data; those in `maybe` may be null. */
  readonly ids: readonly ChangeId[]
  readonly maybe: readonly ChangeId[]
  readonly data: Data
  /** Data as an example. */
  readonly example: z.input<Data>
}

/** Makes a type of change; the example is held to the shape of the data. */
export const kind = <Data extends z.ZodType>(
  meaning: string,
  data: Data,
  example: z.input<NoInfer<Data>>,
  { ids = [], maybe = [] }: { readonly ids?: readonly ChangeId[]; readonly maybe?: readonly ChangeId[] } = {},
): ChangeKind<Data> => ({ meaning, ids, maybe, data, example })
