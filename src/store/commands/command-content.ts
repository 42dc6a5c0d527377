import { type LineQuantity, listUnits, readStoredCommand, type StoredContent } from '../../domain/commands/command.ts'
import { type DecidedParts, decidedPartsSchema } from '../../domain/commands/decision.ts'
import type { Confirmed } from '../../domain/commands/proof.ts'
import type { SqlRunner } from '../db/database.ts'

/** Parses the column `parts`: decisions of a person by line; null: none. */
export const parseParts = (parts: unknown): DecidedParts | null => (parts === null ? null : decidedPartsSchema.parse(parts))

/** The part of a command that is still to be done. If its payload cannot be parsed, its units come from `tallyman.command_lines`. */
export const readContent = async (
  { prisma }: SqlRunner,
  {
    id,
    kind,
    payload,
    parts,
  }: { readonly id: string; readonly kind: string; readonly payload: unknown; readonly parts: unknown },
): Promise<StoredContent> => {
  const open = parseParts(parts)?.open ?? payload
  const read = readStoredCommand(kind, open, [])
  if (read.fault === null) return read
  const lines = await prisma.commandLine.findMany({
    where: { commandId: id },
    orderBy: { lineNumber: 'asc' },
    select: { lineNumber: true, quantity: true },
  })
  return readStoredCommand(kind, open, lines)
}

/** The parts of a command that were applied according to a person's decision. */
export const listConfirmed = (kind: string, parts: DecidedParts | null): Confirmed[] =>
  (parts?.applied ?? []).flatMap(({ payload, baseline }) => {
    const { content } = readStoredCommand(kind, payload, [])
    return content.kind === 'create-shipping-settings' ? [] : [{ content, baseline }]
  })

/** Units of a command that a person has decided by line: applied ones, and those that are still to be sent. */
export interface DecidedUnits {
  readonly applied: readonly LineQuantity[]
  readonly open: readonly LineQuantity[]
}

/** Parses the column `parts` into units; null: there is no decision by line. */
export const parseDecidedUnits = (kind: string, column: unknown): DecidedUnits | null => {
  const parts = parseParts(column)
  if (parts === null) return null
  const open = parts.open === null ? null : readStoredCommand(kind, parts.open, []).content
  return { applied: sumAppliedUnits(listConfirmed(kind, parts)), open: open === null ? [] : listUnits(open.payload) }
}

/** Sums the applied units by line. */
export const sumAppliedUnits = (applied: readonly Confirmed[]): LineQuantity[] => {
  const units = new Map<string, number>()
  for (const { content } of applied) {
    for (const { lineNumber, quantity } of listUnits(content.payload))
      units.set(lineNumber, (units.get(lineNumber) ?? 0) + quantity)
  }
  return [...units].map(([lineNumber, quantity]) => ({ lineNumber, quantity }))
}
