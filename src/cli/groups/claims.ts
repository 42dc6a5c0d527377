import { type Command, Option } from 'commander'
import { claimStates } from '../../domain/inventory/claim-states.ts'
import { systemUser } from '../actor.ts'
import { parseCount, parseMonth } from '../arguments.ts'
import type { CommandRegistry } from '../command-registry.ts'
import { decideClaim, exportClaims, listClaimPayments, listClaims, showClaim } from '../commands/inventory/claims.ts'

interface DecideOptions {
  readonly reference?: string
  readonly reason?: string
  readonly by?: string
  readonly force?: true
  readonly as?: string
  readonly paid?: string
}

/** Adds `tallyman claims`. */
export const addClaims = ({ program, defineCommand, runAction, process }: CommandRegistry): void => {
  const claims = program.command('claims').description('units that can be claimed from the marketplace, with their state')
  defineCommand(claims, 'list', 'claims, the latest first', { isDefault: true })
    .option('--month <month>', 'month of the report, such as 2026-03', parseMonth)
    .option('--seller <id>', 'of this seller only')
    .addOption(new Option('--state <state>', 'of this state').choices([...claimStates, 'all']).default('open'))
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { month?: string; seller?: string; state: string; limit: number }, command: Command) => {
      const { month = null, seller: sellerId = null, state, limit } = options
      return runAction(command, (context) => listClaims(context, { month, sellerId, state, limit }))
    })
  defineCommand(claims, 'show', 'a claim with its arithmetic, report rows and log entries')
    .argument('<id>')
    .action((id: string, _options: object, command: Command) => runAction(command, (context) => showClaim(context, id)))
  defineCommand(claims, 'payments', 'rows of settlement reports that reimburse units, with the claims that they pay')
    .option('--unassigned', 'only those whose claim is not known')
    .option('--seller <id>', 'of this seller only')
    .option('--limit <number>', 'maximum number of entries', parseCount, 100)
    .action((options: { unassigned?: true; seller?: string; limit: number }, command: Command) => {
      const { unassigned, seller: sellerId = null, limit } = options
      return runAction(command, (context) =>
        listClaimPayments(context, { sellerId, assigned: unassigned === true ? false : null, limit }),
      )
    })
  const decide = (id: string, state: string, options: DecideOptions, command: Command): Promise<void> =>
    runAction(command, (context) =>
      decideClaim(context, {
        ...{ id, state, actor: options.by ?? systemUser(process.environment), reason: options.reason ?? null },
        ...{ reference: options.reference ?? null, paidAmount: options.paid ?? null, force: options.force === true },
      }),
    )
  defineCommand(claims, 'file', 'records that a claim was filed with the marketplace')
    .argument('<id>')
    .option('--reference <text>', 'number of the case at the marketplace')
    .option('--reason <text>', 'why; recorded in the audit')
    .option('--by <name>', 'who filed it (default: the user of this system)')
    .option('--force', 'also before the whole log of the SKU was read once')
    .action((id: string, options: DecideOptions, command: Command) => decide(id, 'filed', options, command))
  defineCommand(claims, 'close', "records the marketplace's answer to a claim")
    .argument('<id>')
    .addOption(
      new Option('--as <state>', 'the answer').choices(['paid', 'paid-in-part', 'refused', 'open']).makeOptionMandatory(),
    )
    .option('--paid <amount>', 'what was paid, such as 12.50; at most the digits of the currency')
    .option('--reference <text>', 'number of the case at the marketplace')
    .option('--reason <text>', 'why; recorded in the audit')
    .option('--by <name>', 'who records it (default: the user of this system)')
    .option('--force', 'also if the amount is above the value of the claim')
    .action((id: string, options: DecideOptions, command: Command) => decide(id, options.as ?? 'open', options, command))
  defineCommand(claims, 'export', 'the evidence of a claim, or of all claims of a month, on standard output')
    .argument('[id]')
    .option('--month <month>', 'month of the report, such as 2026-03', parseMonth)
    .option('--seller <id>', 'of this seller only')
    .addOption(new Option('--state <state>', 'of this state, with --month').choices([...claimStates, 'all']).default('open'))
    .addOption(new Option('--format <format>', 'csv, or html to print').choices(['csv', 'html']).default('csv'))
    .action(
      (
        id: string | undefined,
        options: { month?: string; seller?: string; state: string; format: 'csv' | 'html' },
        command: Command,
      ) => {
        const { month = null, seller: sellerId = null, state, format } = options
        return runAction(command, (context) => exportClaims(context, { id: id ?? null, month, sellerId, state, format }))
      },
    )
}
