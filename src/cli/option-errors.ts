import type { Command } from 'commander'
import { Failed, Misused } from '../api-client/errors.ts'
import { Refused } from '../api-client/failures.ts'

/** Names of options and arguments whose member of the HTTP interface has another name. */
const optionNames: Readonly<Record<string, string>> = {
  sellerId: 'seller',
  sellerIds: 'seller',
  purchaseOrderId: 'order',
  customerOrderId: 'customerOrder',
  q: 'search',
  actor: 'by',
  overlapSeconds: 'overlap',
}

/** The option or argument for a member of the HTTP interface, as a user writes it; null: the command has none. */
const formatOption = (command: Command, member: string): string | null => {
  const names = [member, optionNames[member]]
  const option = command.options.find((one) => names.includes(one.attributeName()))
  if (option !== undefined) return option.long ?? option.flags
  const argument = command.registeredArguments.find((one) => names.includes(one.name()))
  return argument === undefined ? null : `<${argument.name()}>`
}

/**
 * Translates the paths of an error from the daemon into options and arguments. Invalid parameters (400) become {@link Misused}, invalid content (422)
 * becomes {@link Failed}.
 */
export const translateError = (command: Command, error: unknown): unknown => {
  if (!(error instanceof Refused) || ![400, 422].includes(error.status) || error.faults.length === 0) return error
  const messages = error.faults.flatMap(({ path, message }) => {
    const [, member = ''] = /^(?:query\.)?(\w+)/.exec(path) ?? []
    const name = formatOption(command, member)
    return name === null ? [] : [`${name}: ${message}`]
  })
  if (messages.length < error.faults.length) return error
  return error.status === 400
    ? new Misused(messages.join('; '), { cause: error })
    : new Failed(error.message, messages, { cause: error })
}
