import { Argument, Command, CommanderError } from 'commander'
import { describeError, Failed, Misused } from '../api-client/errors.ts'
import { version } from '../util/version.ts'
import type { CommandRegistry } from './command-registry.ts'
import { completionScript, listCompletions, type Shell, shells } from './commands/completion.ts'
import { listResources } from './commands/syncs.ts'
import { type CliProcess, createContext } from './context.ts'
import { examples } from './examples.ts'
import { exitCodes } from './exit-codes.ts'
import { addAdministration } from './groups/administration.ts'
import { addAlarms } from './groups/alarms.ts'
import { addAudit } from './groups/audit.ts'
import { addCampaigns } from './groups/campaigns.ts'
import { addClaims } from './groups/claims.ts'
import { addCommands } from './groups/commands.ts'
import { addDrift } from './groups/drift.ts'
import { addErase } from './groups/erase.ts'
import { addEvents } from './groups/events.ts'
import { addForecast } from './groups/forecast.ts'
import { addKeys } from './groups/keys.ts'
import { addMcp } from './groups/mcp.ts'
import { addNotifications } from './groups/notifications.ts'
import { addOrders } from './groups/orders.ts'
import { addQuarantine } from './groups/quarantine.ts'
import { addReconcile } from './groups/reconcile.ts'
import { addRetention } from './groups/retention.ts'
import { addSellers } from './groups/sellers.ts'
import { addSend } from './groups/send.ts'
import { addSettlements } from './groups/settlements.ts'
import { addShadow } from './groups/shadow.ts'
import { addStock } from './groups/stock.ts'
import { addSyncs } from './groups/syncs.ts'
import { addWebhooks } from './groups/webhooks.ts'
import { translateError } from './option-errors.ts'
import { oneLine, paint, write } from './output/terminal.ts'

/** Exit code after an interruption by the user, as in shells (128 + SIGINT). */
const interrupted = 130

/** Every command without subcommands, by its name with the names of its groups. */
const listLeaves = (command: Command, groups: readonly string[] = []): readonly (readonly [string, Command])[] =>
  command.commands.flatMap((one) => {
    const names = [...groups, one.name()]
    return one.commands.length === 0 ? [[names.join(' '), one] as const] : listLeaves(one, names)
  })

/** Builds the whole command line. */
export const buildProgram = (process: CliProcess, runAction: CommandRegistry['runAction']) => {
  const program = new Command('tallyman')
    .description('Operates the running daemon at TALLYMAN_URL (http://127.0.0.1:$PORT), with API_KEY.')
    .version(version, '-V, --version')
    .option('--json', 'data as JSON on standard output')
    .exitOverride()
    .configureOutput({ writeOut: (text) => write(process.out, text), writeErr: (text) => write(process.messages, text) })
    .showHelpAfterError('(see tallyman --help)')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 misused.')

  const defineCommand = (parent: Command, name: string, description: string, options: { isDefault?: boolean } = {}): Command =>
    parent
      .command(name, options)
      .description(options.isDefault === true ? `${description} (default)` : description)
      .option('--json', 'data as JSON on standard output')

  const registry: CommandRegistry = { process, program, defineCommand, runAction }
  program
    .command('start')
    .description('starts the daemon in this process, with the settings of the environment; what npm start does in a clone')
    .action(() => process.becomeDaemon())
  addSyncs(registry)
  addOrders(registry)
  addCommands(registry)
  addAlarms(registry)
  addEvents(registry)
  addSellers(registry)
  addShadow(registry)
  addForecast(registry)
  addWebhooks(registry)
  addNotifications(registry)
  addSend(registry)
  addQuarantine(registry)
  addErase(registry)
  addCampaigns(registry)
  addReconcile(registry)
  addClaims(registry)
  addStock(registry)
  addSettlements(registry)
  addDrift(registry)
  addRetention(registry)
  addKeys(registry)
  addAudit(registry)
  addMcp(registry)
  addAdministration(registry)

  program
    .command('completion')
    .description('prints the completion script of a shell')
    .addArgument(new Argument('<shell>').choices(shells))
    .action((shell: Shell) => write(process.out, completionScript(shell)))
  // Called by the scripts of `completion`.
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action((words: string[], _options: object, command: Command) =>
      runAction(command, async ({ daemon }) => {
        const resources = words[0] === 'sync' || words[0] === 'backfill' ? await listResources(daemon) : []
        for (const word of listCompletions(program, words, resources)) write(process.out, `${word}\n`)
      }),
    )

  for (const [name, command] of listLeaves(program)) {
    const lines = (examples[name] ?? []).map((line) => `  tallyman ${line}`)
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
  }
  return program
}

/** Reports an error; returns the exit code. */
const reportError = (process: CliProcess, error: unknown): number => {
  if (process.signal.aborted) return interrupted
  const known = error instanceof Failed || error instanceof Misused
  const notes = error instanceof Failed ? error.notes : []
  write(process.messages, `${paint(process.messages, 'bad', 'tallyman:')} ${oneLine(describeError(error))}\n`)
  for (const note of notes) write(process.messages, `  ${oneLine(note)}\n`)
  // Any other error is a defect of this program: the stack helps to fix it.
  if (!known && error instanceof Error && error.stack !== undefined) write(process.messages, `${error.stack}\n`)
  return error instanceof Misused ? exitCodes.misused : exitCodes.failed
}

/** Runs the command line; returns the exit code and never throws. */
export const runCli = async (args: readonly string[], process: CliProcess): Promise<number> => {
  const program = buildProgram(process, async (command, action) => {
    const { json } = command.optsWithGlobals<{ json?: true }>()
    const context = createContext(process, json === true)
    try {
      await action(context)
    } catch (error) {
      throw translateError(command, error)
    } finally {
      context.daemon.close()
    }
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCodes.done
  } catch (error) {
    // Commander has already reported the error. Requests for help or the version have exit code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.misused
    return reportError(process, error)
  }
}
