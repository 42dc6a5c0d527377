import { Argument, Command, CommanderError } from 'commander'
import { version } from '../version.ts'
import { completionScript, completionsOf, type Shell, shells } from './completion.ts'
import { type CliProcess, createContext } from './context.ts'
import { examples } from './examples.ts'
import { exitCodes, Failed, Misused, wordsOf } from './faults.ts'
import { addAdministration } from './groups/administration.ts'
import { addAlarms } from './groups/alarms.ts'
import { addAudit } from './groups/audit.ts'
import { addCampaigns } from './groups/campaigns.ts'
import { addCommands } from './groups/commands.ts'
import { addErase } from './groups/erase.ts'
import { addEvents } from './groups/events.ts'
import { addForecast } from './groups/forecast.ts'
import { addKeys } from './groups/keys.ts'
import { addOrders } from './groups/orders.ts'
import { addQuarantine } from './groups/quarantine.ts'
import { addReconcile } from './groups/reconcile.ts'
import { addRetention } from './groups/retention.ts'
import { addSellers } from './groups/sellers.ts'
import { addSend } from './groups/send.ts'
import { addSyncs } from './groups/syncs.ts'
import { addWebhooks } from './groups/webhooks.ts'
import type { Program } from './parts.ts'
import { inWordsOf } from './refused-options.ts'
import { syncedResources } from './syncs.ts'
import { oneLine, paint, write } from './terminal.ts'

/** Exit code after an interruption by the user, as in shells (128 + SIGINT). */
const interrupted = 130

/** Every command without subcommands, by its words. */
const leavesOf = (command: Command, words: readonly string[] = []): readonly (readonly [string, Command])[] =>
  command.commands.flatMap((one) => {
    const own = [...words, one.name()]
    return one.commands.length === 0 ? [[own.join(' '), one] as const] : leavesOf(one, own)
  })

/** Builds the whole command line; `act` runs an action with its context and stores what it throws. */
export const buildProgram = (process: CliProcess, act: Program['act']) => {
  const program = new Command('tallyman')
    .description('Operates the running daemon at TALLYMAN_URL (http://127.0.0.1:$PORT), with API_KEY.')
    .version(version, '-V, --version')
    .option('--json', 'data as JSON on standard output')
    .exitOverride()
    .configureOutput({ writeOut: (text) => write(process.out, text), writeErr: (text) => write(process.talk, text) })
    .showHelpAfterError('(see tallyman --help)')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed, 2 misused.')

  const leaf = (parent: Command, name: string, description: string, options: { isDefault?: boolean } = {}): Command =>
    parent.command(name, options).description(description).option('--json', 'data as JSON on standard output')

  const parts: Program = { process, program, leaf, act }
  addSyncs(parts)
  addOrders(parts)
  addCommands(parts)
  addAlarms(parts)
  addEvents(parts)
  addSellers(parts)
  addForecast(parts)
  addWebhooks(parts)
  addSend(parts)
  addQuarantine(parts)
  addErase(parts)
  addCampaigns(parts)
  addReconcile(parts)
  addRetention(parts)
  addKeys(parts)
  addAudit(parts)
  addAdministration(parts)

  program
    .command('completion')
    .description('prints what makes a shell complete the words of tallyman')
    .addArgument(new Argument('<shell>').choices(shells))
    .action((shell: Shell) => write(process.out, completionScript(shell)))
  // What the scripts of `completion` ask.
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action((words: string[], _options: object, command: Command) =>
      act(command, async ({ daemon }) => {
        const resources = words[0] === 'sync' || words[0] === 'backfill' ? await syncedResources(daemon) : []
        for (const word of completionsOf(program, words, resources)) write(process.out, `${word}\n`)
      }),
    )

  for (const [words, command] of leavesOf(program)) {
    const lines = (examples[words] ?? []).map((line) => `  tallyman ${line}`)
    if (lines.length > 0) command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
  }
  return program
}

/** Reports an error; returns the exit code. */
const tellFault = (process: CliProcess, error: unknown): number => {
  if (process.signal.aborted) return interrupted
  const known = error instanceof Failed || error instanceof Misused
  const notes = error instanceof Failed ? error.notes : []
  write(process.talk, `${paint(process.talk, 'bad', 'tallyman:')} ${oneLine(wordsOf(error))}\n`)
  for (const note of notes) write(process.talk, `  ${oneLine(note)}\n`)
  // Anything else is a defect of this program: the stack helps to fix it.
  if (!known && error instanceof Error && error.stack !== undefined) write(process.talk, `${error.stack}\n`)
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
      throw inWordsOf(command, error)
    } finally {
      context.daemon.close()
    }
  })
  try {
    await program.parseAsync(args, { from: 'user' })
    return exitCodes.done
  } catch (error) {
    // Commander has reported the fault already; requesting help or the version is not a fault.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.misused
    return tellFault(process, error)
  }
}
