import type { Command } from 'commander'
import { Refused } from './daemon.ts'
import { Failed, Misused } from './faults.ts'

/** What an option or an argument is named, where the interface names its value otherwise. */
const namesHere: Readonly<Record<string, string>> = {
  sellerId: 'seller',
  sellerIds: 'seller',
  purchaseOrderId: 'order',
  customerOrderId: 'customerOrder',
  q: 'search',
  actor: 'by',
  overlapSeconds: 'overlap',
}

/** How a user writes what the interface calls so; null: the command has no such option. */
const writtenAs = (command: Command, member: string): string | null => {
  const names = [member, namesHere[member]]
  const option = command.options.find((one) => names.includes(one.attributeName()))
  if (option !== undefined) return option.long ?? option.flags
  const argument = command.registeredArguments.find((one) => names.includes(one.name()))
  return argument === undefined ? null : `<${argument.name()}>`
}

/**
 * An error of a command as its user reads it: what the daemon says of values of options names them as the user has written them. Values that it does
 * not take at all (400) were misused; those that do not suit what it knows (422) have failed.
 */
export const inWordsOf = (command: Command, error: unknown): unknown => {
  if (!(error instanceof Refused) || ![400, 422].includes(error.status) || error.faults.length === 0) return error
  const said = error.faults.flatMap(({ path, message }) => {
    const [, member = ''] = /^(?:query\.)?(\w+)/.exec(path) ?? []
    const name = writtenAs(command, member)
    return name === null ? [] : [`${name}: ${message}`]
  })
  if (said.length < error.faults.length) return error
  return error.status === 400 ? new Misused(said.join('; '), { cause: error }) : new Failed(error.message, said, { cause: error })
}
