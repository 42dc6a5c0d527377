import { type LineQuantity, readStoredCommand, type StoredContent, unitsOf } from '../domain/command.ts'
import { type DecidedParts, decidedPartsSchema } from '../domain/decision.ts'
import type { Confirmed } from '../domain/proof.ts'
import type { SqlRunner } from './database.ts'

/** Reads the column `parts`: what a person has decided by line; null: nothing. */
export const partsOf = (parts: unknown): DecidedParts | null => (parts === null ? null : decidedPartsSchema.parse(parts))

/** What is still to be carried out of a command. Units of one that cannot be read any more are those that were stored beside it. */
export const readContent = async (
  { prisma }: SqlRunner,
  {
    id,
    kind,
    payload,
    parts,
  }: { readonly id: string; readonly kind: string; readonly payload: unknown; readonly parts: unknown },
): Promise<StoredContent> => {
  const open = partsOf(parts)?.open ?? payload
  const read = readStoredCommand(kind, open, [])
  if (read.fault === null) return read
  const lines = await prisma.commandLine.findMany({
    where: { commandId: id },
    orderBy: { lineNumber: 'asc' },
    select: { lineNumber: true, quantity: true },
  })
  return readStoredCommand(kind, open, lines)
}

/** What of a command was applied, as a person says. */
export const appliedOf = (kind: string, parts: DecidedParts | null): Confirmed[] =>
  (parts?.applied ?? []).flatMap(({ payload, baseline }) => {
    const { content } = readStoredCommand(kind, payload, [])
    return content.kind === 'create-shipping-settings' ? [] : [{ content, baseline }]
  })

/** Units of a command that a person has decided line by line: what was applied, and what is still to be sent. Null: it was not decided so. */
export interface DecidedUnits {
  readonly applied: readonly LineQuantity[]
  readonly open: readonly LineQuantity[]
}

/** Reads the column `parts` for people. */
export const decidedUnits = (kind: string, column: unknown): DecidedUnits | null => {
  const parts = partsOf(column)
  if (parts === null) return null
  const open = parts.open === null ? null : readStoredCommand(kind, parts.open, []).content
  return { applied: unitsApplied(appliedOf(kind, parts)), open: open === null ? [] : unitsOf(open.payload) }
}

/** Units of all that was applied, by line. */
export const unitsApplied = (applied: readonly Confirmed[]): LineQuantity[] => {
  const units = new Map<string, number>()
  for (const { content } of applied) {
    for (const { lineNumber, quantity } of unitsOf(content.payload))
      units.set(lineNumber, (units.get(lineNumber) ?? 0) + quantity)
  }
  return [...units].map(([lineNumber, quantity]) => ({ lineNumber, quantity }))
}
