import type { Command } from 'commander'
import type { CliContext, CliProcess } from './context.ts'

/** Defines the commands of the command line. */
export interface CommandRegistry {
  readonly process: CliProcess
  readonly program: Command
  /** Adds a command without subcommands. */
  defineCommand(parent: Command, name: string, description: string, options?: { readonly isDefault?: boolean }): Command
  /** Runs an action of a command with its context. */
  runAction(command: Command, action: (context: CliContext) => Promise<void>): Promise<void>
}
